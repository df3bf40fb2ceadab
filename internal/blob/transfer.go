package blob

import (
	"context"

	"choiros/internal/choir"
)

// Linker is the optional power to share content with another store instead of
// copying it. What is shared can be removed from either without harm to the
// other.
type Linker interface {
	// Link takes content of another store up and gives back what it could not
	// share, which is then to be copied. Code not_found: the other lacks it.
	Link(ctx context.Context, from Store, digests []choir.Digest) (left []choir.Digest, err error)
}

// Transfer makes sure that a store has content of another, shared where it can
// be; when it returns without an error all of it is durable.
func Transfer(ctx context.Context, from, to Store, digests []choir.Digest) error {
	if l, ok := to.(Linker); ok {
		var err error
		if digests, err = l.Link(ctx, from, digests); err != nil {
			return err
		}
	}
	for _, d := range digests {
		if err := copyOne(ctx, from, to, d); err != nil {
			return err
		}
	}
	return nil
}

func copyOne(ctx context.Context, from, to Store, d choir.Digest) error {
	r, err := from.Open(ctx, d)
	if err != nil {
		return err
	}
	defer r.Close()
	got, _, err := to.Put(ctx, r)
	if err == nil && got != d {
		err = choir.E("blob.transfer", choir.CodeCorrupt, "blob %s came as %s", d, got)
	}
	return err
}
