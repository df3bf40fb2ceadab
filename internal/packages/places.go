package packages

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Bounds of pages that are read at once, and of digests that are looked for.
const (
	atOnce   = 16 // of all hosts
	atOnceOf = 6  // of one host
)

// places bounds how much is asked at once, of all hosts and of each, so that a host that does not
// answer leaves places to the others.
type places struct {
	all *semaphore.Weighted

	mu sync.Mutex // guards the rest; held for no waiting
	of map[string]*semaphore.Weighted
}

func newPlaces() *places {
	return &places{all: semaphore.NewWeighted(atOnce), of: map[string]*semaphore.Weighted{}}
}

// takePlace waits for a place to ask a host, which a registry has named, until it is left.
func (p *places) takePlace(ctx context.Context, host string) (leave func(), err error) {
	p.mu.Lock()
	one := p.of[host]
	if one == nil {
		one = semaphore.NewWeighted(atOnceOf)
		p.of[host] = one
	}
	p.mu.Unlock()
	if err := one.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	if err := p.all.Acquire(ctx, 1); err != nil {
		one.Release(1)
		return nil, err
	}
	return func() { p.all.Release(1); one.Release(1) }, nil
}
