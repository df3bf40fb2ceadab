package packages

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
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
