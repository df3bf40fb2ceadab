package journal

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// A lock may outlive its owner for a moment: when that is killed while it starts
// a program, the child has the descriptor until its exec is over, which takes
// long on a machine with a busy disk. InUse holds it for an instant, too.
const (
	lockStep  = 10 * time.Millisecond
	lockTries = 300
)

func (j *Journal) takeLock() error {
	f, err := os.OpenFile(filepath.Join(j.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	j.lock = f
	for range lockTries {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		j.cfg.pause(lockStep)
	}
	return choir.E("journal.open", choir.CodeBusy, "another process has this computer's log open").
		WithRemedy("stop it first; `choir doctor` names it")
}

// InUse reports whether a process has the journal in dir open for writing.
func InUse(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "lock"))
	if err != nil {
		return false
	}
	defer f.Close() // and with it the lock
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
