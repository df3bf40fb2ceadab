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
// in .git are left out; the snapshots have them.
func IsShown(ch *snapshot.Change) bool {
	return ch.Path != "" && !InGit(ch.Path) && !ch.TimeOnly() && !IsFolder(ch.Before) && !IsFolder(ch.After)
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
