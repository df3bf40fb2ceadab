package blob

import (
	"context"

	"choiros/internal/choir"
)

// Linker is the optional power to share content with another store instead of copying
// it. Shared content can be removed from either store without harm to the other.
type Linker interface {
	// Link shares content of the store from. It returns the digests that it could not
	// share, which the caller copies. Code not_found: the other store lacks the
	// content.
	Link(ctx context.Context, from Store, digests []choir.Digest) (left []choir.Digest, err error)
}

// Transfer copies the content of digests from one store to another, and shares it where
// the stores can. After a nil error all of it is durable.
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
