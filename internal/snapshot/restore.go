package snapshot

import (
	"context"

	"choiros/internal/choir"
)

// RestoreOptions narrow a restore.
type RestoreOptions struct {
	// Only restores the paths (escaped, below the root, "" for the root itself)
	// it is true for; nil restores everything.
	Only func(path string) bool
}

// RestoreResult of a restore.
type RestoreResult struct {
	Root    choir.Digest // the tree as it is now
	Written int64        // files, links and fifos written anew
	Changed int64        // paths of which only mode or time was set
	Removed int64        // paths removed
}

// Restore makes the tree what the snapshot says, in place: it rewrites only the
// paths that differ, never follows a link, and leaves the cache up to date.
//
// Errors: not_found or corrupt from get; conflict when the tree kept changing
// meanwhile; no_space.
func (s *Scanner) Restore(ctx context.Context, target choir.Digest, get Getter, opts RestoreOptions) (RestoreResult, error) {
	return RestoreResult{}, choir.E("snapshot.restore", choir.CodeUnavailable, "not built yet")
}
