package blob

import (
	"context"
	"time"

	"choiros/internal/choir"
)

// Collector is the optional power to list and remove content. The caller ensures that
// removed content is not needed. Put of existing content makes it as fresh as new
// content.
type Collector interface {
	// Each visits everything that is kept, in no order; an error of fn ends it.
	Each(ctx context.Context, fn func(Info) error) error
	// Remove removes content that was last put before a time, and reports whether it
	// did.
	Remove(ctx context.Context, d choir.Digest, before time.Time) (bool, error)
	// Touch makes existing content as fresh as new content; code not_found if it does
	// not exist.
	Touch(ctx context.Context, d choir.Digest) error
}

// Info describes one stored blob.
type Info struct {
	Digest choir.Digest
	Size   int64
	Put    time.Time // when it was last put
}
