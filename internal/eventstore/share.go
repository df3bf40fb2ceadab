package eventstore

import (
	"context"
	"path/filepath"
	"sort"

	"choiros/internal/choir"
	"choiros/internal/journal"
)

// Share lays out, in the folder of another computer, a log that begins with the
// events up to seq: the same bytes, shared where the file system can. Its SQLite
// copy is made when it is opened.
func (s *Store) Share(dir string, seq uint64) error {
	return s.journal.Share(filepath.Join(dir, journalDir), seq)
}

// Parts are the journal's files up to an event. See journal.Journal.
func (s *Store) Parts(seq uint64) ([]journal.Part, error) { return s.journal.Parts(seq) }

// Begins is the first event that the log's computer has alone: 1, unless it began
// as a fork or an import. A computer's own events follow the ones it came with,
// so this looks at few.
func (s *Store) Begins(ctx context.Context, computer choir.ID) (uint64, error) {
	head, _ := s.Head()
	var err error
	own := func(seq uint64) bool {
		events, rerr := s.EventsAfter(ctx, seq-1, 1)
		if rerr != nil || len(events) == 0 {
			err = rerr
			return false
		}
		return events[0].Computer == computer
	}
	if head == 0 || own(1) || err != nil {
		return 1, err
	}
	n := sort.Search(int(head), func(i int) bool { return own(uint64(i) + 1) })
	return uint64(n) + 1, err
}
