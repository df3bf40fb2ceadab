// Package filelock locks files for one process at a time, by flock(2).
package filelock

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ErrHeld says that another process has the lock.
var ErrHeld = errors.New("another process has the lock")

// step is the time between two tries.
const step = 10 * time.Millisecond

// Acquire locks f for this process alone until it is closed; f must be open. It waits
// up to patience: a process that was killed while it started a program leaves the lock
// to the new process until its exec is over, which takes long on a machine with a busy
// disk, and Held has it for an instant. The kernel tells nobody of a lock that is free
// again, so it is asked for again and again; pause waits between two tries, time.Sleep
// when nil. Error: ErrHeld, or flock's own.
func Acquire(f *os.File, patience time.Duration, pause func(time.Duration)) error {
	if pause == nil {
		pause = time.Sleep
	}
	for waited := time.Duration(0); ; waited += step {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case !errors.Is(err, unix.EWOULDBLOCK):
			return err
		case waited >= patience:
			return ErrHeld
		}
		pause(step)
	}
}

// Held reports whether some process has the file at path locked by Take.
func Held(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // and with it the lock
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
