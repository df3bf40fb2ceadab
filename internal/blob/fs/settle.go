package fs

import (
	"bytes"
	"errors"
	"io"
	"os"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// Close makes everything durable under its name and ends writing; reading goes
// on. A store that was not closed is put right by the next Open.
func (s *Store) Close() error {
	err := s.Flush()
	s.settleMu.Lock()
	defer s.settleMu.Unlock()
	return fail("blob.close", errors.Join(err, s.wal.close()), s.dir)
}

// Flush gives all that was committed before its durable file.
func (s *Store) Flush() error {
	for range 2 { // what was taken out before and failed, and what came since
		if err := s.settle(); err != nil {
			return err
		}
	}
	return nil
}

// settle gives the content of one segment of the log its files; the segment is
// free then.
func (s *Store) settle() error {
	s.settleMu.Lock()
	defer s.settleMu.Unlock()
	seg := s.wal.retire()
	if seg == nil {
		return nil
	}
	if err := together(seg.held, s.restore); err != nil {
		return err
	}
	held := make([]choir.Digest, 0, len(seg.held))
	for _, r := range seg.held {
		held = append(held, r.digest)
	}
	if err := together(s.foldersOf(held), syncDir); err != nil {
		return err
	}
	s.recent.forget(seg.held)
	s.wal.recycle()
	return nil
}

// settleIdle is settle in the background. What fails is tried again when more is
// committed or the store is closed; until then the log has it.
func (s *Store) settleIdle() { _ = s.settle() }

// restore makes sure that content of the log is durable in its file. The caller
// syncs the folder.
func (s *Store) restore(r record) error {
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
	return s.place(t, r.digest)
}

// intact reports whether the file of a record is there and right.
func (s *Store) intact(r record) bool {
	f, err := os.Open(s.path(r.digest))
	if err != nil {
		return false
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	return err == nil && bytes.Equal(raw, r.content)
}

// syncNamed syncs a file that has its name. One that was collected is no loss.
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
