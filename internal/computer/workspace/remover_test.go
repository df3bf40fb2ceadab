package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// removed waits until nothing waits to be removed any more.
func (l *lab) removed() {
	l.t.Helper()
	for ctx := l.within(); l.exists(snapshot.Removing); runtime.Gosched() {
		if ctx.Err() != nil {
			l.t.Fatal("it is not removed")
		}
	}
}

// TestRemovingHoldsNothingUp throws a deep folder away and empties the trash, while
// the owner goes on.
func TestRemovingHoldsNothingUp(t *testing.T) {
	l := newLab(t)
	const depth = 200
	if err := os.MkdirAll(filepath.Join(l.dir, strings.Repeat("d/", depth)), 0o755); err != nil {
		t.Fatal(err)
	}
	must(l.Discard(l.within(), choir.RoleShell, []Discarding{{Path: "d"}}))(t)
	if err := l.EmptyTrash(l.within(), choir.RoleShell, ""); err != nil {
		t.Fatal(err)
	}
	if l.exists("d") || l.exists(trashDir) {
		t.Error("it is still in the tree")
	}
	l.write("x", "x")
	l.removed()
	if n := l.remover.count.Load(); n < depth {
		t.Errorf("%d paths are gone, of %d folders", n, depth)
	}
}

// TestWhatASessionLeftIsRemovedByTheNext finds the folder that a session which was
// killed did not remove.
func TestWhatASessionLeftIsRemovedByTheNext(t *testing.T) {
	l := newLab(t)
	l.outside(snapshot.Removing+"/x/y", "z")
	l.ResumeRemoving()
	l.removed()
}
