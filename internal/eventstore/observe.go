package eventstore

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// Observer receives measurements of a log. Its methods return at once, do not call the
// store and do not keep their arguments.
type Observer interface {
	// Appended receives how long one call of Append took, and its error.
	Appended(took time.Duration, err error)
	// Committed receives an event that became durable, its payload and its bytes in
	// the log: in the order of the log, one call at a time. The journal waits for it.
	Committed(e *choir.Event, payload choir.Payload, bytes int)
}

// observe passes newly durable events to the observer, if there is one.
func (s *Store) observe(items []item) {
	if s.cfg.Observer == nil {
		return
	}
	for i := range items {
		s.cfg.Observer.Committed(&items[i].event, items[i].payload, len(items[i].raw))
	}
}

// Figures are the sizes of a log at one time.
type Figures struct {
	Head         uint64 `json:"head" doc:"Number of the newest event."`
	Copied       uint64 `json:"copied" doc:"Number of the newest event in the SQLite copy."`
	Behind       int    `json:"behind" doc:"Bytes of the events that the copy lacks."`
	JournalBytes int64  `json:"journal_bytes" doc:"Of the journal on disk."`
	CopyBytes    int64  `json:"copy_bytes" doc:"Of the SQLite copy on disk."`
}

// Figures returns the sizes of the log. It does not block and reads no event.
func (s *Store) Figures() Figures {
	f := Figures{Copied: s.applier.reached(), Behind: s.applier.backlog(), JournalBytes: s.journal.Size()}
	f.Head, _ = s.Head()
	for _, suffix := range []string{"", "-wal"} {
		// A file that is not there, or just being made anew, has no bytes.
		if info, err := os.Stat(filepath.Join(s.dir, sqliteFile+suffix)); err == nil {
			f.CopyBytes += info.Size()
		}
	}
	return f
}

// LastTaken returns the newest snapshot.taken, which has the size of the workspace; the
// zero value if there is none.
func (t *Tables) LastTaken(ctx context.Context) (choir.SnapshotTaken, error) {
	var events []choir.Event
	err := t.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT event FROM events WHERE type = '"+string(choir.TypeSnapshotTaken)+"' ORDER BY seq DESC LIMIT 1", decoded(&events))
	})
	if err != nil || len(events) == 0 {
		return choir.SnapshotTaken{}, err
	}
	p, err := choir.ReadPayload(events[0].Type, events[0].Payload)
	if err != nil {
		return choir.SnapshotTaken{}, choir.Wrap("eventstore.read", choir.CodeCorrupt, err, "event %d", events[0].Seq)
	}
	return *p.(*choir.SnapshotTaken), nil
}

// Counts counts the events of each type.
func (t *Tables) Counts(ctx context.Context) (map[choir.Type]int64, error) {
	out := map[choir.Type]int64{}
	err := t.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT type, count(*) FROM events GROUP BY type", func(st *sqlite.Stmt) error {
			out[choir.Type(st.ColumnText(0))] = st.ColumnInt64(1)
			return nil
		})
	})
	return out, err
}
