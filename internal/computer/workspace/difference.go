package workspace

import (
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// Difference lists the changes between the trees of two moments.
type Difference struct {
	From, To choir.Digest
	Changes  []snapshot.Change
}

// IsShown reports whether lists for people include a change. Folders, times and files
// in .git are left out; the snapshots have them. A file in the place of a folder is included.
func IsShown(ch *snapshot.Change) bool {
	return IsOfFile(ch) && !InGit(ch.Path)
}

// IsOfFile reports whether a change adds, changes or removes what is no folder; a change of
// times alone does not.
func IsOfFile(ch *snapshot.Change) bool {
	isFile := func(e *snapshot.Entry) bool { return e != nil && !IsFolder(e) }
	return ch.Path != "" && !ch.TimeOnly() && (isFile(ch.Before) || isFile(ch.After))
}

// CountShown counts the changes for which IsShown holds.
func CountShown(changes []snapshot.Change) (n int64) {
	for i := range changes {
		if IsShown(&changes[i]) {
			n++
		}
	}
	return n
}

// IsFolder reports whether an entry is not nil and is a folder.
func IsFolder(e *snapshot.Entry) bool { return e != nil && e.Kind == snapshot.Dir }
