package fs

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"choiros/internal/fault"
)

// prepare creates the folders and recovers from an interrupted process. It does not
// recover a store that another process writes to.
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
	if err := s.clearTemporary(); err != nil {
		return errors.Join(err, lock.Close())
	}
	if err = s.replayLog(); hasNoRoom(err) {
		return s.serveFromLog(lock)
	}
	if err == nil {
		err = s.syncFolders(nil) // whoever made a folder may not have come to this
	}
	return errors.Join(err, lock.Close())
}

// clearTemporary removes all temporary files.
func (s *Store) clearTemporary() error {
	dir := filepath.Join(s.dir, tempDir)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o700)
}

// replayLog writes the content of the write-ahead log into files, and then removes the
// log. It can be interrupted and repeated. Content that was collected but is still in
// the log comes back until the next collection.
func (s *Store) replayLog() error {
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
		records = append(records, scanRecords(raw)...)
	}
	s.recent.add(records)
	if err := syncAll(records, s.writeFile); err != nil {
		return err
	}
	// All of them: content that was synced by itself may have a name that was not.
	folders, err := s.allFolders()
	if err == nil {
		err = s.syncFolders(folders)
	}
	if err != nil {
		return err
	}
	s.recent.forget(records)
	fault.Point("blob.recover")
	return removeSegments(s.wal.dir)
}

// hasNoRoom reports whether err means that the disk cannot be written to but can be
// read: it is full or read-only.
func hasNoRoom(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EROFS)
}

// serveFromLog keeps content that is only in the log in memory, because a full disk
// prevents its replay. Close tries again. lock is the lock of the log's folder.
func (s *Store) serveFromLog(lock *os.File) error {
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_SH); err != nil {
		return errors.Join(err, lock.Close())
	}
	s.wal.keepRecords(s.recent.all(), lock)
	return nil
}
