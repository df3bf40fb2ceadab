package snapshot

import (
	"context"
	"io"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

// remembered is how many digests a keeper remembers of each kind, times two.
const remembered = 1 << 15

// Keeper is the side that stores and does not trust: it checks the hash of
// every object, decodes every manifest strictly, and accepts a root only when
// everything reachable from it is in the store. It is safe for many goroutines
// and is a Getter.
type Keeper struct {
	store    blob.Store
	complete *recent[total] // manifests whose whole tree is in the store
	stored   *recent[int64] // sizes of contents in the store
}

// total sums a folder and everything below.
type total struct {
	files, bytes int64
	paths        int64
	depth        int
	lacks        bool // something of it is missing; never remembered
}

// NewKeeper keeps snapshots in a store.
func NewKeeper(store blob.Store) *Keeper {
	return &Keeper{store: store, complete: newRecent[total](remembered), stored: newRecent[int64](remembered)}
}

// Manifest implements Getter.
func (k *Keeper) Manifest(ctx context.Context, d choir.Digest) ([]byte, error) {
	raw, err := blob.ReadAll(ctx, k.store, d, MaxManifestBytes)
	return raw, k.noticed(err)
}

// Content implements Getter.
func (k *Keeper) Content(ctx context.Context, d choir.Digest) (io.ReadCloser, error) {
	r, err := k.store.Open(ctx, d)
	if err != nil {
		return nil, k.noticed(err)
	}
	return &noticing{r, k}, nil
}

// noticed forgets what is remembered of the store when something in it is
// damaged, so that the next intake of a tree that has it asks for it.
func (k *Keeper) noticed(err error) error {
	if choir.CodeOf(err) == choir.CodeCorrupt {
		k.Forget()
	}
	return err
}

// noticing is content that tells the keeper when it is damaged.
type noticing struct {
	io.ReadCloser
	keeper *Keeper
}

func (n *noticing) Read(p []byte) (int, error) {
	got, err := n.ReadCloser.Read(p)
	if err == nil || err == io.EOF {
		return got, err
	}
	return got, n.keeper.noticed(err)
}

// Size is the length of an object in bytes; code not_found when it is absent.
func (k *Keeper) Size(ctx context.Context, d choir.Digest) (int64, error) {
	return k.store.Size(ctx, d)
}

// Verify reports what a tree holds when all of it is in the store; code
// not_found, with one missing digest in the message, when something lacks.
// Contents are looked up, not read.
func (k *Keeper) Verify(ctx context.Context, root choir.Digest) (files, bytes int64, err error) {
	in := &Intake{keeper: k, fresh: map[Sum]object{}}
	t, missing, err := in.closure(ctx, root, 1)
	if err != nil {
		return 0, 0, err
	}
	if len(missing) > 0 {
		return 0, 0, choir.E("snapshot.verify", choir.CodeNotFound, "snapshot %s lacks %s", root, missing[0])
	}
	return t.files, t.bytes, nil
}

// Begin starts to take up a snapshot.
func (k *Keeper) Begin(ctx context.Context) (*Intake, error) {
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

// Forget drops what is remembered of the store, after something was removed from
// it and while no intake is under way, or after something in it was found damaged.
func (k *Keeper) Forget() {
	k.complete.clear()
	k.stored.clear()
}
