package snapshot

import (
	"bytes"
	"context"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

// Intake receives the objects of one snapshot. It is used by one goroutine and ends with
// Commit or Discard.
type Intake struct {
	keeper *Keeper
	batch  blob.Batch // nil when the store has none
	fresh  map[Sum]object
	sealed map[Sum]total // found complete by closure, not committed yet
	lacked map[Sum]int64 // lengths of the contents that the last Need returned
}

// object describes an object that was added to an intake.
type object struct {
	size     int64
	manifest []byte // of a manifest, whole
}

// Add checks an object and stores it. Content that does not match its digest is code
// corrupt, a manifest that breaks a rule is code invalid.
func (in *Intake) Add(ctx context.Context, o Object) error {
	sum, ok := o.Digest.Bytes()
	if !ok {
		return choir.Invalid("digest", "%q is not a digest", o.Digest)
	}
	if old, ok := in.fresh[sum]; ok && (old.manifest != nil || !o.Manifest) {
		return nil
	}
	added, err := in.store(ctx, &o)
	if err != nil {
		return choir.Wrap("snapshot.add", "", err, "object %s", o.Digest)
	}
	in.fresh[sum] = added
	return nil
}

func (in *Intake) store(ctx context.Context, o *Object) (object, error) {
	if o.Open != nil {
		if o.Manifest {
			return object{}, choir.Invalid("manifest", "must come whole")
		}
		return in.stream(ctx, o)
	}
	added := object{size: int64(len(o.Content))}
	if o.Manifest {
		if _, err := DecodeManifest(o.Content); err != nil {
			return object{}, err
		}
		added.manifest = bytes.Clone(o.Content)
	}
	if in.batch != nil {
		return added, in.batch.Add(o.Digest, o.Content)
	}
	if choir.DigestOf(o.Content) != o.Digest {
		return object{}, choir.E("snapshot.add", choir.CodeCorrupt, "the content has another digest")
	}
	_, _, err := in.keeper.store.Put(ctx, bytes.NewReader(o.Content))
	return added, err
}

// stream copies the content of an object to the store without holding it in memory.
// Content with another digest is code corrupt.
func (in *Intake) stream(ctx context.Context, o *Object) (object, error) {
	r, err := o.Open()
	if err != nil {
		return object{}, err
	}
	defer r.Close()
	d, size, err := in.keeper.store.Put(ctx, r)
	if err == nil && d != o.Digest {
		err = choir.E("snapshot.add", choir.CodeCorrupt, "the content has digest %s", d)
	}
	return object{size: size}, err
}

// Need returns the digests of up to max objects that are missing here from the root's
// tree; none means that the tree is complete. A tree that breaks a rule is code invalid
// or too_large, with the escaped path of the entry.
func (in *Intake) Need(ctx context.Context, root choir.Digest, max int) ([]choir.Digest, error) {
	_, missing, err := in.closure(ctx, root, max)
	return missing, err
}

// Fits returns code no_space if the disk has no room for a content that the last Need
// returned. For other digests, and for stores that cannot tell, it returns nil.
func (in *Intake) Fits(d choir.Digest) error {
	sum, _ := d.Bytes()
	size, ok := in.lacked[sum]
	store, can := in.keeper.store.(blob.Roomer)
	if !ok || !can {
		return nil
	}
	return store.RoomFor(size)
}

// Commit makes the tree durable and returns the number of its files and of their bytes.
// An incomplete tree is code conflict.
func (in *Intake) Commit(ctx context.Context, root choir.Digest) (files, bytes int64, err error) {
	t, missing, err := in.closure(ctx, root, 1)
	if err != nil {
		return 0, 0, err
	}
	if len(missing) > 0 {
		return 0, 0, choir.E("snapshot.commit", choir.CodeConflict, "snapshot %s lacks %s", root, missing[0])
	}
	if in.batch != nil {
		if err := in.batch.Commit(); err != nil {
			return 0, 0, err
		}
	}
	for sum, t := range in.sealed {
		in.keeper.complete.put(sum, t)
	}
	for sum, o := range in.fresh {
		in.keeper.stored.put(sum, o.size)
	}
	return t.files, t.bytes, nil
}

// Discard drops the objects that were not committed. After Commit it has no effect.
func (in *Intake) Discard() {
	if in.batch != nil {
		in.batch.Discard()
	}
}
