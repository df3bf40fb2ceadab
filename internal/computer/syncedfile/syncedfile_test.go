package syncedfile

import (
	"os"
	"path/filepath"
	"testing"

	"choiros/internal/choir"
)

func TestAFileHasWhatWasWrittenLast(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "note")
	for _, content := range []string{"longer", "short", ""} {
		if err := Write(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("%q, %v, want %q", got, err, content)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info, err)
	}
}

func TestAFileThatCannotBeWrittenIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none", "note")
	if err := Write(path, nil); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("%v", err)
	}
	if err := SyncFolder(filepath.Dir(path)); err == nil {
		t.Error("a folder that is not there was synced")
	}
}
