package sandboxtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// CopySelf copies the running test program to dir, executable by other users, and returns
// the path of the copy.
func CopySelf(t testing.TB, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, filepath.Base(self))
	// Another process writes the copy: a program that this one had open for writing
	// while a parallel test forks could not be started.
	if out, err := exec.Command("cp", self, path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
