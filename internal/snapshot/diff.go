package snapshot

import (
	"context"

	"choiros/internal/choir"
)

// Change is one path that differs between two trees. Path and From are escaped
// and below the root; the root itself is "".
type Change struct {
	Path   string
	From   string // former path, of a renamed file
	Kind   choir.ChangeKind
	Before *Entry // nil when added
	After  *Entry // nil when deleted
}

// Diff lists what changed from tree a to tree b, by path. A deleted and an added
// file with equal, non-empty content are one rename. Folders are listed too
// (their mode, their time, their being there); see Change.TimeOnly and
// FileChanges.
func Diff(ctx context.Context, get Getter, a, b choir.Digest) ([]Change, error) {
	return nil, choir.E("snapshot.diff", choir.CodeUnavailable, "not built yet")
}

// TimeOnly reports whether nothing but the modification time differs.
func (c *Change) TimeOnly() bool { return false }

// FileChanges are the changes that people and git see: no folders, and nothing
// of which only the time differs.
func FileChanges(changes []Change) []choir.FileChange { return nil }

// Walk calls fn for every path of a tree, folders before what is in them, names
// in byte order; path is escaped, "" for the root. An error of fn ends the walk.
func Walk(ctx context.Context, get Getter, root choir.Digest, fn func(path string, e *Entry) error) error {
	return choir.E("snapshot.walk", choir.CodeUnavailable, "not built yet")
}
