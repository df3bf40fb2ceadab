package workspace

import (
	"context"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// Bounds of the paths of each kind that one event names.
const (
	maxLeft      = 100
	maxLeftBytes = 32 << 10
)

// leftOutEvent returns the event that lists the paths a scan left out of the snapshot,
// or nil if the log already has the same list.
func (t *tree) leftOutEvent(ctx context.Context, now snapshot.Result) (choir.Payload, error) {
	known, err := t.log.LeftOut(ctx, 0)
	if err != nil {
		return nil, err
	}
	there := choir.CachesLeftOut{Limit: t.cfg.CacheLimit}
	over := map[string]bool{}
	size := 0
	for _, l := range now.Over {
		over[l.Path] = true
		if l.Reason == choir.LeftRemoving {
			continue // it is nobody's any more
		}
		if size += len(l.Path); len(there.Over) < maxLeft && size <= maxLeftBytes {
			there.Over = append(there.Over, l)
		}
	}
	size = 0
	for _, path := range now.Left {
		if size += len(path); !over[path] && len(there.Paths) < maxLeft && size <= maxLeftBytes {
			there.Paths = append(there.Paths, path)
		}
	}
	if slices.Equal(known.Paths, there.Paths) && slices.EqualFunc(known.Over, there.Over, sameLeft) {
		return nil, nil
	}
	return there, nil
}

// sameLeft reports whether two left-out paths are the same for the log: growth of the
// file does not count.
func sameLeft(a, b choir.LeftPath) bool { return a.Path == b.Path && a.Reason == b.Reason }

// Without returns the snapshot root without the given paths, which no snapshot holds
// and which nothing removes: the tree can only be restored to that while they exist.
func (t *tree) Without(ctx context.Context, root choir.Digest, caches []string) (choir.Digest, error) {
	if len(caches) == 0 {
		return root, nil
	}
	in, err := t.keeper.NewIntake(ctx)
	if err != nil {
		return "", err
	}
	defer in.Discard()
	left, err := snapshot.Without(ctx, t.keeper, root, caches, func(o snapshot.Object) error { return in.Add(ctx, o) })
	if err == nil && left != root {
		_, _, err = in.Commit(ctx, left)
	}
	return left, err
}
