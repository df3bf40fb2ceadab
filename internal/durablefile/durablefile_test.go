package durablefile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"choiros/internal/durablefile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAFileIsReplacedWholeAndForItsOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, []byte("the content before"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := durablefile.Write(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	info, statErr := os.Stat(path)
	if err != nil || statErr != nil || string(raw) != "new" || info.Mode().Perm() != 0o600 {
		t.Errorf("%q with mode %v: %v %v", raw, info.Mode(), err, statErr)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v is left beside it: %v", entries, err)
	}
	for range 2 { // the second time it is not there
		if err := durablefile.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

func TestAFileThatCannotBeWrittenLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "folder")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := durablefile.Write(path, []byte("new")); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v is left: %v", entries, err)
	}
}

func TestFilesThatAnInterruptedWriteLeftAreRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	var left []os.DirEntry
	interrupted := durablefile.RenamedAt(func() {
		var err error
		if left, err = os.ReadDir(dir); err != nil || len(left) != 1 || !durablefile.Unfinished(left[0].Name()) {
			t.Errorf("before the rename there is %v: %v", left, err)
		}
		runtime.Goexit() // the process dies here
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = interrupted.Write(path, []byte("new"))
		t.Error("it went on after the rename")
	}()
	<-done
	for _, name := range []string{".new-123", "kept", ".kept", "new.new-1"} { // the first is of an earlier build
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := durablefile.RemoveUnfinished(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if names := []string{".kept", "kept", "new.new-1"}; err != nil || !slices.EqualFunc(entries, names, func(e os.DirEntry, name string) bool { return e.Name() == name }) {
		t.Errorf("left: %v %v", entries, err)
	}
	if err := durablefile.RemoveUnfinished(filepath.Join(dir, "none")); err != nil {
		t.Errorf("of a folder that is not there: %v", err)
	}
}

func TestAnErrorOfTheWriterKeepsTheOldContent(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := durablefile.Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	broke := errors.New("the source broke")
	files := durablefile.RenamedAt(func() { t.Error("it was renamed") })
	err := files.WriteFrom(path, func(w io.Writer) error { _, err := io.WriteString(w, "half"); return errors.Join(err, broke) })
	raw, readErr := os.ReadFile(path)
	if !errors.Is(err, broke) || readErr != nil || string(raw) != "old" {
		t.Errorf("%q: %v %v", raw, err, readErr)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v is left beside it: %v", entries, err)
	}
}

// Root reads a folder of any mode, so the test's thread gives that right up.
func TestAReplacedFileWhoseNameIsNotSyncedIsSaidToBeReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.Chmod(dir, 0o300); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		var none [2]unix.CapUserData
		if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
			t.Error(err)
		}
		done <- durablefile.Write(path, []byte("new"))
	}()
	err := <-done
	raw, readErr := os.ReadFile(path)
	if !errors.Is(err, durablefile.ErrReplaced) || readErr != nil || string(raw) != "new" {
		t.Errorf("%q: %v %v", raw, err, readErr)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := durablefile.Write(filepath.Join(dir, "folder"), nil); err == nil || errors.Is(err, durablefile.ErrReplaced) {
		t.Errorf("in the place of a folder: %v", err)
	}
}
