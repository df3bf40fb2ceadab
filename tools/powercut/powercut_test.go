package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestAPowerCutKeepsWhatWasSynced does on a real mount what programs do, cuts
// the power and looks at the disk.
func TestAPowerCutKeepsWhatWasSynced(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("this machine has no FUSE")
	}
	backing, at := filepath.Join(t.TempDir(), "disk"), t.TempDir()
	if err := errors.Join(os.Mkdir(backing, 0o755), os.WriteFile(filepath.Join(backing, "old"), []byte("old"), 0o600)); err != nil {
		t.Fatal(err)
	}
	l := newLayer(backing)
	unmount, err := l.mount(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unmount(); err != nil {
			t.Error(err)
		}
	})
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
