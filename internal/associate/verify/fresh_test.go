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

// TestFoldersOfPackagesAreLinkedIntoACopy has a project with each kind; a copy of it failed.
func TestFoldersOfPackagesAreLinkedIntoACopy(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, dir := range []string{".venv", "venv", "target"} {
		if err := os.MkdirAll(filepath.Join(root, dir, "in"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p, err := newFresh(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.copyFrom(t.Context(), root, "."); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{".venv", "venv", "target"} {
		if to, err := os.Readlink(filepath.Join(p.dir, dir)); err != nil || to != filepath.Join(root, dir) {
			t.Errorf("%s leads to %q, %v", dir, to, err)
		}
	}
	if err := p.remove(); err != nil {
		t.Error(err)
	}
}
