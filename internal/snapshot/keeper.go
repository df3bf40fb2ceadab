package snapshot

import (
	"context"
	"io"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

// remembered is half the number of digests that each of a keeper's caches holds.
const remembered = 1 << 15

// Keeper stores snapshots sent by an untrusted guest. It checks the hash of every object,
// decodes every manifest strictly, and accepts a root only if every object reachable from
// it is in the store. It is safe for concurrent use and implements Getter.
type Keeper struct {
	store    blob.Store
	complete *recent[total] // manifests whose whole tree is in the store
	stored   *recent[int64] // sizes of contents in the store
}

// total is the sum over a folder and everything below it.
type total struct {
	files, bytes int64
	git          gitTotal // the part of files and bytes that is git's own
	paths        int64
	depth        int
	lacks        bool // something of it is missing; never remembered
}

// gitTotal sums the files below folders named .git.
type gitTotal struct{ files, bytes int64 }

// NewKeeper returns a keeper that stores its objects in a blob store.
func NewKeeper(store blob.Store) *Keeper {
	return &Keeper{store: store, complete: newRecent[total](remembered), stored: newRecent[int64](remembered)}
}

// Manifest returns an encoded manifest; it implements Getter.
func (k *Keeper) Manifest(ctx context.Context, d choir.Digest) ([]byte, error) {
	raw, err := blob.ReadAll(ctx, k.store, d, MaxManifestBytes)
	return raw, k.forgetIfDamaged(err)
}

// Content opens the content of a file; it implements Getter. The caller closes it.
func (k *Keeper) Content(ctx context.Context, d choir.Digest) (io.ReadCloser, error) {
	r, err := k.store.Open(ctx, d)
	if err != nil {
		return nil, k.forgetIfDamaged(err)
	}
	return &noticing{r, k}, nil
}

// forgetIfDamaged clears the keeper's caches if err is code corrupt, so that the next
// intake of a tree with the damaged object requests it. It returns err.
func (k *Keeper) forgetIfDamaged(err error) error {
	if choir.CodeOf(err) == choir.CodeCorrupt {
		k.Forget()
	}
	return err
}

// noticing reads content and clears the keeper's caches if the content proves to be
// corrupt.
type noticing struct {
	io.ReadCloser
	keeper *Keeper
}

func (n *noticing) Read(p []byte) (int, error) {
	got, err := n.ReadCloser.Read(p)
	if err == nil || err == io.EOF {
		return got, err
	}
	return got, n.keeper.forgetIfDamaged(err)
}

// Size returns the length of an object in bytes. An absent object is code not_found.
func (k *Keeper) Size(ctx context.Context, d choir.Digest) (int64, error) {
	return k.store.Size(ctx, d)
}

// Verify returns the number of files and bytes of a tree if all its objects are in the
// store. A missing object is code not_found, with its digest in the message. It does not
// read the contents of files.
func (k *Keeper) Verify(ctx context.Context, root choir.Digest) (files, bytes int64, err error) {
	t, err := k.verify(ctx, root)
	return t.files, t.bytes, err
}

// VerifyWork is Verify, except that files in .git folders do not count.
func (k *Keeper) VerifyWork(ctx context.Context, root choir.Digest) (files, bytes int64, err error) {
	t, err := k.verify(ctx, root)
	return t.files - t.git.files, t.bytes - t.git.bytes, err
}

func (k *Keeper) verify(ctx context.Context, root choir.Digest) (total, error) {
	in := &Intake{keeper: k, fresh: map[Sum]object{}}
	t, missing, err := in.closure(ctx, root, 1)
	if err != nil {
		return total{}, err
	}
	if len(missing) > 0 {
		return total{}, choir.E("snapshot.verify", choir.CodeNotFound, "snapshot %s lacks %s", root, missing[0])
	}
	return t, nil
}

// NewIntake starts to receive the objects of a snapshot. The caller must end the intake
// with Commit or Discard.
func (k *Keeper) NewIntake(ctx context.Context) (*Intake, error) {
	in := &Intake{keeper: k, fresh: map[Sum]object{}}
	if b, ok := k.store.(blob.Batcher); ok {
		batch, err := b.Batch(ctx)
		if err != nil {
			return nil, err
		}
		in.batch = batch
	}
	return in, nil
}

// Forget clears the keeper's caches of objects in the store. Call it after objects were
// removed from the store, while no intake is in progress, or after one was found to be
// damaged.
func (k *Keeper) Forget() {
	k.complete.clear()
	k.stored.clear()
}
