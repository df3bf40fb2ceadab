package journal

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"choiros/internal/choir"
	"choiros/internal/filelock"
)

// lockPatience is the time that takeLock waits for another process to release the log.
const lockPatience = 3 * time.Second

func (j *Journal) takeLock() error {
	f, err := os.OpenFile(filepath.Join(j.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	j.lock = f
	err = filelock.Acquire(f, lockPatience, j.cfg.pause)
	if errors.Is(err, filelock.ErrHeld) {
		return choir.Refuse("journal.open", choir.ReasonLogOpenElsewhere)
	}
	return err
}

// InUse reports whether a process has the journal in dir open for writing.
func InUse(dir string) bool { return filelock.Held(filepath.Join(dir, "lock")) }
