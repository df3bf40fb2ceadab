package fs

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"choiros/internal/fault"
)

// prepare makes the folders and puts right what an interrupted process left. It
// leaves a store alone that another process writes to: there everything is under
// its name.
func (s *Store) prepare() error {
	if err := os.MkdirAll(s.wal.dir, 0o700); err != nil {
		return err
	}
	lock, err := lockDir(s.wal.dir, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		// Who writes shares the lock, so this waits only for who puts right.
		if lock, err = lockDir(s.wal.dir, unix.LOCK_SH); err == nil {
			err = lock.Close()
		}
		return err
	}
	if err != nil {
		return err
	}
	if err := errors.Join(s.clear(), s.makeFolders()); err != nil {
		return errors.Join(err, lock.Close())
	}
	if err = s.recover(); hasNoRoom(err) {
		return s.adopt(lock)
	}
	if err == nil {
		err = syncDir(s.dir) // whoever made a folder may not have come to this
	}
	return errors.Join(err, lock.Close())
}

// clear removes content that has no name.
func (s *Store) clear() error {
	dir := filepath.Join(s.dir, tempDir)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o700)
}

// recover gives the content of the log its files. Until that is done the log
// stays, so it can be interrupted and begun again. What had been collected and is
// still in the log comes back, until the next collection.
func (s *Store) recover() error {
	files, err := os.ReadDir(s.wal.dir)
	if err != nil || len(files) == 0 {
		return err
	}
	var records []record
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(s.wal.dir, f.Name()))
		if err != nil {
			return err
		}
		records = append(records, scan(raw)...)
	}
	s.recent.add(records)
	if err := together(records, s.restore); err != nil {
		return err
	}
	// All of them: content that was synced by itself may have a name that was not.
	if err := together(s.folders(), syncDir); err != nil {
		return err
	}
	s.recent.forget(records)
	fault.Point("blob.recover")
	return removeSegments(s.wal.dir)
}

// hasNoRoom says that a disk takes nothing more, but can be read.
func hasNoRoom(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EROFS)
}

// adopt goes on with content that only the log has, because the disk is full. It
// is read from memory, and Close tries again.
func (s *Store) adopt(lock *os.File) error {
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_SH); err != nil {
		return errors.Join(err, lock.Close())
	}
	s.wal.adopt(s.recent.all(), lock)
	return nil
}
