package packages

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestContentStaysWhileThereAreNoDescriptors asks for content that is good while the process has no
// descriptor left, and for content that was changed. It is alone in its process's limits.
func TestContentStaysWhileThereAreNoDescriptors(t *testing.T) {
	s, err := openStore(t.TempDir(), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.create()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum := sha256.Sum256([]byte("content"))
	if _, err := f.WriteString("content"); err != nil {
		t.Fatal(err)
	}
	key := keyOf("good.test", "/a")
	if _, err := s.add(key, f.Name(), hex.EncodeToString(sum[:]), 7, &room{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	got, err := s.open(key, time.Now())
	if back := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); back != nil {
		t.Fatal(back)
	}
	if got != nil || !errors.Is(err, ErrPass) || !s.has(key) {
		t.Errorf("without descriptors: %v, %v; it is there: %v", got, err, s.has(key))
	}
	if got, err = s.open(key, time.Now()); got == nil || err != nil {
		t.Fatalf("with descriptors again: %v", err)
	}
	defer got.Close()
	if err := os.WriteFile(got.Name(), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := s.open(key, time.Now()); got != nil || err != nil || s.has(key) {
		t.Errorf("changed: %v, %v; it is there: %v", got, err, s.has(key))
	}
}

// TestTheOwnersFilesStay opens a store, and clears one, in a folder that others use too.
func TestTheOwnersFilesStay(t *testing.T) {
	dir := t.TempDir()
	digest := strings.Repeat("ab", sha256.Size)
	keeps := []string{"app", "app/package.json", digest, digest + ".txt", strings.Repeat("x", 64) + "." + digest}
	for _, name := range append(keeps, digest+"."+digest, digest+"."+strings.Repeat("cd", sha256.Size), unfinished+"1") {
		var err error
		if name == "app" {
			err = os.Mkdir(filepath.Join(dir, name), 0o755)
		} else {
			err = os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	mustHold := func(more int) {
		t.Helper()
		for _, name := range keeps {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
		// app/package.json is in app.
		if names := stored(t, dir); len(names) != len(keeps)-1+more {
			t.Errorf("it holds %q", names)
		}
	}
	s, err := openStore(dir, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if items, _ := s.usage(); items != 1 {
		t.Errorf("it holds %d items", items)
	}
	mustHold(1)
	if err := Clear(dir); err != nil {
		t.Fatal(err)
	}
	mustHold(0)
}

// TestAFolderOfTheOwnersIsNotCleared clears an empty folder, and one behind a link.
func TestAFolderOfTheOwnersIsNotCleared(t *testing.T) {
	digest := strings.Repeat("ab", sha256.Size)
	for _, kept := range []string{"", digest + "." + digest} {
		dir := t.TempDir()
		link := filepath.Join(t.TempDir(), "packages")
		if err := os.Symlink(dir, link); err != nil {
			t.Fatal(err)
		}
		if kept != "" {
			if err := os.WriteFile(filepath.Join(dir, kept), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(Clear(link), Clear(dir)); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(link); err != nil || len(left) != 0 {
			t.Errorf("with %q: %v, %v", kept, left, err)
		}
	}
}
