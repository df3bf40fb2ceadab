package snapshot

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRenameNew checks both ways of renaming to a name that must be free.
func TestRenameNew(t *testing.T) {
	for way, rename := range map[string]func(int, string, int, string) error{"the kernel's": RenameNew, "by a look": renameNewByLook} {
		root := t.TempDir()
		for _, dir := range []string{"folder", "taken"} {
			if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(root, "file"), []byte("content"), 0o640); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("nowhere", filepath.Join(root, "link")); err != nil {
			t.Fatal(err)
		}
		at, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(at)
		for _, name := range []string{"folder", "file", "link"} {
			if err := rename(at, name, at, "taken"); err != unix.EEXIST {
				t.Errorf("%s: %s over what is there: %v", way, name, err)
			}
			if err := rename(at, name, at, "new-"+name); err != nil {
				t.Errorf("%s: %s: %v", way, name, err)
			}
			_, gone := os.Lstat(filepath.Join(root, name))
			if _, err := os.Lstat(filepath.Join(root, "new-"+name)); err != nil || !os.IsNotExist(gone) {
				t.Errorf("%s: after it %s: %v, %v", way, name, err, gone)
			}
		}
		if err := rename(at, "none", at, "other"); err != unix.ENOENT {
			t.Errorf("%s: what is not there: %v", way, err)
		}
	}
}
