package eventstore

import (
	"context"
	"path/filepath"
	"sort"

	"choiros/internal/choir"
	"choiros/internal/journal"
	"choiros/internal/recovery"
)

// Share creates in dir, the folder of another computer, a log with the events up to
// seq, byte for byte, with hard links where possible. Its first open makes the SQLite
// copy. No repair runs meanwhile.
func (s *Store) Share(ctx context.Context, dir string, seq uint64) error {
	return s.barrier.Beside(ctx, recovery.Fork, func(context.Context) error {
		return s.journal.Share(filepath.Join(dir, journalDir), seq)
	})
}

// Parts returns the journal's files up to event seq, see journal.Journal.Parts. Code
// busy from opening a part: a repair has replaced the file since.
func (s *Store) Parts(ctx context.Context, seq uint64) (parts []journal.Part, err error) {
	err = s.barrier.Beside(ctx, recovery.Export, func(context.Context) error {
		parts, err = s.journal.Parts(seq)
		return err
	})
	return parts, err
}

// Begins returns the number of the first event of the log's own computer: 1, unless it
// began as a fork or an import. Its own events follow the ones it came with, so a
// binary search finds it.
func (s *Store) Begins(ctx context.Context, computer choir.ID) (uint64, error) {
	head, _ := s.Head()
	var err error
	own := func(seq uint64) bool {
		// Where an event is damaged the next one tells, so this is a page and not At.
		page, rerr := s.EventsAfter(ctx, seq-1, 1)
		if rerr != nil {
			err = rerr
		}
		return len(page) > 0 && page[0].Computer == computer
	}
	if head == 0 || own(1) || err != nil {
		return 1, err
	}
	n := sort.Search(int(head), func(i int) bool { return own(uint64(i) + 1) })
	return uint64(n) + 1, err
}
