package fs

import (
	"bytes"
	"errors"
	"io"
	"os"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// Close moves all content of the log into durable files and ends writing; reading goes
// on. After a missing or failed Close the next Open recovers.
func (s *Store) Close() error {
	err := s.Flush()
	s.settleMu.Lock()
	defer s.settleMu.Unlock()
	return wrapErr("blob.close", errors.Join(err, s.wal.close()), s.dir)
}

// Flush writes all content of the log into durable files.
func (s *Store) Flush() error {
	for range 2 { // what was taken out before and failed, and what came since
		if err := s.flushSegment(); err != nil {
			return err
		}
	}
	return nil
}

// flushSegment writes the content of one log segment into files and frees the segment.
func (s *Store) flushSegment() error {
	s.settleMu.Lock()
	defer s.settleMu.Unlock()
	seg := s.wal.retire()
	if seg == nil {
		return nil
	}
	if err := syncAll(seg.held, s.writeFile); err != nil {
		return err
	}
	held := make([]choir.Digest, 0, len(seg.held))
	for _, r := range seg.held {
		held = append(held, r.digest)
	}
	if err := s.syncFolders(s.foldersOf(held)); err != nil {
		return err
	}
	s.recent.forget(seg.held)
	s.wal.recycle()
	return nil
}

// flushIdle calls flushSegment from the idle timer. An error is dropped: the content
// stays in the log, and the next commit or Close tries again.
func (s *Store) flushIdle() { _ = s.flushSegment() }

// writeFile ensures that content of the log is durable in its file. The caller syncs
// the folder.
func (s *Store) writeFile(r record) error {
	if !s.recent.has(r.digest) {
		return nil // removed meanwhile
	}
	if s.intact(r) {
		return s.syncNamed(r.digest)
	}
	t, err := s.create()
	if err != nil {
		return err
	}
	defer t.drop()
	if _, err := t.file.Write(r.content); err != nil {
		return err
	}
	fault.Point("blob.settle.sync")
	if err := t.file.Sync(); err != nil {
		return err
	}
	return s.publish(t, r.digest)
}

// intact reports whether the file of a record exists with the right content.
func (s *Store) intact(r record) bool {
	f, err := os.Open(s.path(r.digest))
	if err != nil {
		return false
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	return err == nil && bytes.Equal(raw, r.content)
}

// syncNamed syncs the file of a digest. A file that was collected meanwhile is no
// error.
func (s *Store) syncNamed(d choir.Digest) error {
	f, err := os.Open(s.path(d))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	fault.Point("blob.settle.sync")
	return f.Sync()
}
