package workspace

import (
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// Difference is how the tree differs between two moments.
type Difference struct {
	From, To choir.Digest
	Changes  []snapshot.Change
}

// IsShown reports whether people see a change: folders, times and what git keeps for
// itself are exact in the snapshots, and in no list.
func IsShown(ch *snapshot.Change) bool {
	return ch.Path != "" && !InGit(ch.Path) && !ch.TimeOnly() && !IsFolder(ch.Before) && !IsFolder(ch.After)
}

// CountShown counts the changes that people see.
func CountShown(changes []snapshot.Change) (n int64) {
	for i := range changes {
		if IsShown(&changes[i]) {
			n++
		}
	}
	return n
}

// IsFolder reports whether an entry is there and is a folder.
func IsFolder(e *snapshot.Entry) bool { return e != nil && e.Kind == snapshot.Dir }
