package eventstore

import (
	"context"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// cursorsVersion is the schema version that introduced the cursors table.
const cursorsVersion = 10

// cursorsTable is the SQL that creates the cursors table in an older copy; schema.sql
// has it for new ones.
const cursorsTable = `CREATE TABLE IF NOT EXISTS cursors (name TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID`

// Cursor stores, in the computer's own database, the number of the last event that a
// named reader has handled. After a crash it may be older than that but never newer,
// and it is lost with the SQLite copy; a reader that goes on after it handles each event
// at least once.
type Cursor struct {
	store *Store
	name  string
}

// Cursor returns the cursor with a name.
func (s *Store) Cursor(name string) *Cursor { return &Cursor{s, name} }

// Load returns the number of the last event handled, 0 if there is none. Code conflict
// with the cause ErrAhead, and 0: the log lacks the cursor's event, so the cursor is of
// another log or of a later state of this one.
func (c *Cursor) Load(ctx context.Context) (uint64, error) {
	at, err := c.stored(ctx)
	if err != nil || at.seq == 0 {
		return 0, err
	}
	head, _ := c.store.Head()
	if at.seq <= head {
		e, err := c.store.At(ctx, at.seq)
		if err == nil && e.Hash == at.hash || choir.CodeOf(err) == choir.CodeCorrupt {
			return at.seq, nil // a damaged event says nothing against it
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, choir.Wrap("eventstore.cursor", choir.CodeConflict, ErrAhead, "the cursor %s stands at an event %d that is not in this log, which ends at %d", c.name, at.seq, head)
}

// Save moves the cursor to event seq. 0 removes it, so that its reader starts with the
// first event.
func (c *Cursor) Save(ctx context.Context, seq uint64) error {
	if seq == 0 {
		return c.store.applier.saveCursor(c.name, cursorEvent{})
	}
	e, err := c.store.At(ctx, seq)
	if err != nil {
		return err
	}
	return c.store.applier.saveCursor(c.name, cursorEvent{e.Seq, e.Hash})
}

// cursorEvent is the event that a cursor points to.
type cursorEvent struct {
	seq  uint64
	hash choir.Digest
}

func (c *Cursor) stored(ctx context.Context) (at cursorEvent, err error) {
	err = c.store.pool.use(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT seq, hash FROM cursors WHERE name = ?", func(st *sqlite.Stmt) error {
			at = cursorEvent{uint64(st.ColumnInt64(0)), choir.Digest(st.ColumnText(1))}
			return nil
		}, c.name)
	})
	return at, err
}

// saveCursor writes a row of the cursors table, or removes it for number 0. The row
// survives a crash of choir; a power cut may restore an older one.
func (a *applier) saveCursor(name string, at cursorEvent) error {
	if a.static {
		return choir.E("eventstore.cursor", choir.CodeUnavailable, "the log is open for reading only")
	}
	fault.Point("store.cursor")
	a.connMu.Lock()
	defer a.connMu.Unlock()
	if a.conn == nil {
		return errNoCopy()
	}
	if at.seq == 0 {
		return sqliteError("eventstore.cursor", query(a.conn, "DELETE FROM cursors WHERE name = ?", nil, name))
	}
	return sqliteError("eventstore.cursor", writeCursor(a.conn, name, at))
}

func writeCursor(conn *sqlite.Conn, name string, at cursorEvent) error {
	return query(conn, "REPLACE INTO cursors VALUES (?, ?, ?)", nil, name, at.seq, string(at.hash))
}

// carryCursors copies the cursors of a SQLite copy into its replacement. A cursor that
// cannot be read is dropped.
func carryCursors(from, to *sqlite.Conn) error {
	cursors := map[string]cursorEvent{}
	readErr := query(from, "SELECT name, seq, hash FROM cursors", func(st *sqlite.Stmt) error {
		cursors[st.ColumnText(0)] = cursorEvent{uint64(st.ColumnInt64(1)), choir.Digest(st.ColumnText(2))}
		return nil
	})
	if readErr != nil {
		return nil // as said above
	}
	for name, at := range cursors {
		if err := writeCursor(to, name, at); err != nil {
			return err
		}
	}
	return nil
}
