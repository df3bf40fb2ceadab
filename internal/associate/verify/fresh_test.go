package verify

import (
	"os"
	"path/filepath"
	"testing"

	"choiros/internal/choir"
)

// TestAFileOfHolesIsNotCopied has a file of 64 GiB without a block, which does not fit in
// memory.
func TestAFileOfHolesIsNotCopied(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.go"), []byte("package a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	copyOf := func() error {
		p, err := newFresh(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := p.remove(); err != nil {
				t.Error(err)
			}
		})
		return p.copyFrom(t.Context(), root, ".")
	}
	if err := copyOf(); err != nil {
		t.Fatalf("without it: %v", err)
	}
	f, err := os.Create(filepath.Join(root, "holes"))
	if err == nil {
		err = f.Truncate(64 << 30)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := copyOf(); choir.CodeOf(err) != choir.CodeTooLarge {
		t.Errorf("error %v", err)
	}
}
