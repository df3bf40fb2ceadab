package main

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestAPowerCutKeepsWhatWasSynced does on a real mount what programs do, cuts
// the power and looks at the disk.
func TestAPowerCutKeepsWhatWasSynced(t *testing.T) {
	l, at := mounted(t, map[string]string{"old": "old"})
	backing := l.backing
	work(t, at)
	if err := l.powerCut(dropAll{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "later"), nil, 0o600); err == nil {
		t.Error("a file could be written without power")
	}
	entries, err := os.ReadDir(backing)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"moved", "old", "synced"}; !slices.Equal(names, want) {
		t.Errorf("the disk has %v, want %v", names, want)
	}
	for name, want := range map[string]string{"old": "old", "synced": "synced", "moved": "moved"} {
		if got, err := os.ReadFile(filepath.Join(backing, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, want %q: %v", name, got, want, err)
		}
	}
}

// mounted shows a disk with these files.
func mounted(t *testing.T, files map[string]string) (l *layer, at string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("this machine has no FUSE")
	}
	backing, at := filepath.Join(t.TempDir(), "disk"), t.TempDir()
	err := os.Mkdir(backing, 0o755)
	for name, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(backing, name), []byte(text), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	l = newLayer(backing)
	unmount, err := l.mount(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unmount(); err != nil {
			t.Error(err)
		}
	})
	return l, at
}

// TestARenameIsDoneOrNot cuts the power behind renames that nobody synced: a
// folder has one name of two, and a replaced file is the old or the new one.
func TestARenameIsDoneOrNot(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(16) {
		l, at := mounted(t, map[string]string{"file": "old"})
		path := func(name string) string { return filepath.Join(at, name) }
		folder, err := os.Open(at)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(os.Mkdir(path("making"), 0o755), os.WriteFile(path("making/in"), nil, 0o600), syncOf(path("making/in")),
			os.WriteFile(path("file.tmp"), []byte("new"), 0o600), syncOf(path("file.tmp")), folder.Sync(), folder.Close(),
			os.Rename(path("making"), path("made")), os.Rename(path("file.tmp"), path("file")),
			l.powerCut(someSectors{rand.New(rand.NewPCG(seed, 1))}))
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(l.backing, "file"))
		if err != nil {
			t.Error(err)
		}
		_, err = os.Stat(filepath.Join(l.backing, "file.tmp"))
		if left := err == nil; left != (string(content) == "old") {
			t.Errorf("the file is %q, and what was to replace it is there: %v", content, left)
		}
		names, err := filepath.Glob(filepath.Join(l.backing, "ma*", "in"))
		if err != nil || len(names) != 1 {
			t.Fatalf("the folder is there as %v, %v", names, err)
		}
		seen[string(content)], seen[filepath.Base(filepath.Dir(names[0]))] = true, true
	}
	if len(seen) != 4 {
		t.Errorf("of each rename only one end was seen: %v", seen)
	}
}

func syncOf(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// work changes, makes, moves and removes files, synced and not.
func work(t *testing.T, at string) {
	t.Helper()
	path := func(name string) string { return filepath.Join(at, name) }
	write := func(name, text string, sync bool) error {
		f, err := os.OpenFile(path(name), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteString(text)
		if sync {
			err = errors.Join(err, f.Sync())
		}
		return errors.Join(err, f.Close())
	}
	folder, err := os.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	err = errors.Join(
		write("moving", "moved", true), os.Rename(path("moving"), path("moved")), folder.Sync(),
		write("synced", "synced", true), write("synced", "unsynced, longer", false),
		write("old", "new", false), os.Remove(path("old")), write("lost", "lost", false),
	)
	if err != nil {
		t.Fatal(err)
	}
}
