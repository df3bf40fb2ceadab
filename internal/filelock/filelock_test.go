package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func openLock(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestOnlyOneHasTheLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	first, second := openLock(t, path), openLock(t, path)
	if Held(path) {
		t.Error("held by nobody")
	}
	if err := Acquire(first, 0, nil); err != nil || !Held(path) {
		t.Fatalf("%v, held: %t", err, Held(path))
	}
	waited := time.Duration(0)
	if err := Acquire(second, time.Second, func(d time.Duration) { waited += d }); !errors.Is(err, ErrHeld) || waited != time.Second {
		t.Errorf("%v after %s", err, waited)
	}
}

func TestALockThatIsLetGoLateIsWaitedFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	late, next := openLock(t, path), openLock(t, path)
	if err := Acquire(late, 0, nil); err != nil {
		t.Fatal(err)
	}
	waits := 0
	err := Acquire(next, time.Second, func(time.Duration) {
		if waits++; waits == 3 {
			late.Close()
		}
	})
	if err != nil || waits != 3 {
		t.Errorf("%v after %d waits", err, waits)
	}
}

func TestWhatCannotBeLockedIsNotHeld(t *testing.T) {
	t.Parallel()
	f := openLock(t, filepath.Join(t.TempDir(), "lock"))
	f.Close()
	if err := Acquire(f, time.Hour, nil); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("a closed file: %v", err)
	}
	if Held(filepath.Join(t.TempDir(), "none")) {
		t.Error("what is not there is held")
	}
}
