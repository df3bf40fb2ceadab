package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"choiros/internal/choir"
)

func TestASnapshotIsAFileSystem(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a/b/c.txt", "see")
	write(t, dir, "d.txt", "dee")
	must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "out")))
	k := newKeeper(t)
	root := keep(t, NewScanner(dir, ScanConfig{}), k).Root
	tree := NewFS(t.Context(), k, root, 10)
	var seen []string
	must(t, fs.WalkDir(tree, ".", func(path string, _ fs.DirEntry, err error) error {
		seen = append(seen, path)
		return err
	}))
	if got := len(seen); got != 6 {
		t.Errorf("%d paths: %q", got, seen)
	}
	if raw, err := tree.ReadFile("a/b/c.txt"); err != nil || string(raw) != "see" {
		t.Errorf("%q, %v", raw, err)
	}
	for _, name := range []string{"out", "out/x", "../d.txt", "a/b", "none"} {
		if raw, err := tree.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", name, raw, err)
		}
	}
	sub, err := tree.Folder("a")
	must(t, err)
	if raw, err := fs.ReadFile(sub, "b/c.txt"); err != nil || string(raw) != "see" {
		t.Errorf("%q, %v", raw, err)
	}
	few := NewFS(t.Context(), k, root, 1)
	if _, err := few.ReadFile("a/b/c.txt"); choir.CodeOf(err) != choir.CodeTooLarge {
		t.Errorf("over the limit of folders: %v", err)
	}
}
