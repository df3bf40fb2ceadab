package blob

import (
	"context"
	"time"

	"choiros/internal/choir"
)

// Collector is the optional power to list what is kept and to forget some of it.
// Whoever forgets makes sure that nobody relies on it; Put makes what was there
// already as fresh as what is new.
type Collector interface {
	// Each visits everything that is kept, in no order; an error of fn ends it.
	Each(ctx context.Context, fn func(Info) error) error
	// Remove forgets what was last put before a time, and says whether it did.
	Remove(ctx context.Context, d choir.Digest, before time.Time) (bool, error)
	// Touch is Put of what is there already; code not_found when it is not.
	Touch(ctx context.Context, d choir.Digest) error
}

// Info is one blob of a list.
type Info struct {
	Digest choir.Digest
	Size   int64
	Put    time.Time // when it was last put
}
