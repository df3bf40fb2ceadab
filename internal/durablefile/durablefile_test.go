package durablefile_test

import (
	"os"
	"path/filepath"
	"testing"

	"choiros/internal/durablefile"
)

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

func TestWhatAnInterruptedWriteLeftIsRemoved(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".new-123", "kept"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := durablefile.RemoveUnfinished(dir); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "kept" {
		t.Errorf("left: %v %v", entries, err)
	}
}
