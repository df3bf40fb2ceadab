package host_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"choiros/internal/sandbox/host"
)

func TestTheSecondRootFolderHasTheFilesOfTheFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	roots, err := host.PrepareRoots(dir, nil, []string{"workspace"})
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	etc := filepath.Join(roots[0], "etc")
	err = filepath.WalkDir(etc, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		first, err := os.Lstat(path)
		if err != nil {
			return err
		}
		second, err := os.Lstat(filepath.Join(roots[1], "etc", path[len(etc):]))
		if err != nil {
			return err
		}
		if first.Mode() != second.Mode() {
			t.Errorf("%s is %v in one root folder and %v in the other", path, first.Mode(), second.Mode())
		}
		if !d.IsDir() {
			files++
			if !os.SameFile(first, second) {
				t.Errorf("%s was copied again", path)
			}
		}
		return nil
	})
	if err != nil || files < len(host.MadeUp) {
		t.Fatalf("%d files, %v", files, err)
	}
	for i, want := range []bool{false, true} {
		if _, err := os.Stat(filepath.Join(roots[i], "workspace")); (err == nil) != want {
			t.Errorf("root folder %d: workspace: %v", i, err)
		}
	}
	again, err := host.PrepareRoots(dir, nil, []string{"workspace"})
	if err != nil || again[0] != roots[0] || again[1] != roots[1] {
		t.Errorf("made again as %v, %v", again, err)
	}
}

func BenchmarkPrepareRoots(b *testing.B) {
	for b.Loop() {
		if _, err := host.PrepareRoots(b.TempDir(), nil, []string{"workspace"}); err != nil {
			b.Fatal(err)
		}
	}
}
