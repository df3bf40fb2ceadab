package computer

import (
	"context"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// Bounds of the caches that one event names.
const (
	maxLeft      = 100
	maxLeftBytes = 32 << 10
)

// leftOut is the event that says which caches a scan left out, when they are
// others than the log knows; else nil.
func (c *Computer) leftOut(ctx context.Context, now snapshot.Result) (choir.Payload, error) {
	known, err := c.store.LeftOut(ctx, 0)
	if err != nil {
		return nil, err
	}
	there, size := now.Left, 0
	for i, path := range there {
		if size += len(path); i == maxLeft || size > maxLeftBytes {
			there = there[:i]
			break
		}
	}
	if slices.Equal(known, there) {
		return nil, nil
	}
	return choir.CachesLeftOut{Paths: there, Limit: c.cfg.CacheLimit}, nil
}

// without is the tree of a snapshot that the workspace can be made while these
// caches are in it, which no snapshot has and nobody removes.
func (c *Computer) without(ctx context.Context, root choir.Digest, caches []string) (choir.Digest, error) {
	if len(caches) == 0 {
		return root, nil
	}
	in, err := c.keeper.Begin(ctx)
	if err != nil {
		return "", err
	}
	defer in.Discard()
	left, err := snapshot.Without(ctx, c.keeper, root, caches, func(o snapshot.Object) error { return in.Add(ctx, o) })
	if err == nil && left != root {
		_, _, err = in.Commit(ctx, left)
	}
	return left, err
}
