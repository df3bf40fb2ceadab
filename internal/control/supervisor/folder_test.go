package supervisor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"choiros/internal/filelock"
)

// TestAFolderThatAKillLeftLockedIsWaitedFor holds the lock of a folder as long as a program that a
// killed choir was starting did on a busy machine.
func TestAFolderThatAKillLeftLockedIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	left, err := os.Create(filepath.Join(dir, "choir.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := filelock.Acquire(left, 0, nil); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(1500*time.Millisecond, func() { left.Close() })
	f := folder{path: dir}
	if err := f.lockFolder(); err != nil {
		t.Fatal(err)
	}
	if err := f.lock.Close(); err != nil {
		t.Error(err)
	}
}
