package eventstore

import (
	"context"
	"errors"

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
// named consumer has handled. After a crash it may be older than that but never newer,
// and it is lost with the SQLite copy; so each event is handled at least once.
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

// Save moves the cursor to event seq. 0 removes it, so that the next consumer starts
// with the first event.
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

// Consumer handles every event of the log in order, at least once, across restarts.
type Consumer struct {
	// Name is that of its cursor.
	Name string
	// Batch is how many events a call of Handle gets at most; 0 means 512.
	Batch int
	// Handle gets the next events, in ascending order. With an error the consumer
	// ends, and the events come again when it is started again. When it panics its
	// events come again one by one; the one on which it panics alone is left out.
	Handle func(ctx context.Context, events []choir.Event) error
	// Failed, when given, gets what keeps an event from being handled: the number, 0
	// for none, and the reason.
	Failed func(seq uint64, reason error)

	handled func() // between a batch and its cursor, for tests
}

// Consume calls the consumer for all events after its cursor, and for new ones, until
// the context ends (code cancelled), or Handle or a read fails. A cursor of another log
// is reported to Failed, and the log is handled from its first event.
func (s *Store) Consume(ctx context.Context, c Consumer) error {
	ctx = MustNotLag(ctx) // an event that lags would be passed over
	cursor := s.Cursor(c.Name)
	at, err := cursor.Load(ctx)
	if errors.Is(err, ErrAhead) {
		c.fail(0, err)
	} else if err != nil {
		return err
	}
	for {
		if err := s.WaitPast(ctx, at); err != nil {
			return err
		}
		head, _ := s.Head()
		events, err := choir.Collect(s.Events(ctx, at+1, head), c.batch())
		if err != nil {
			return err
		}
		if len(events) == 0 {
			at = head // the rest is damaged in both copies
			continue
		}
		if err := c.handle(ctx, events); err != nil {
			return err
		}
		if c.handled != nil {
			c.handled()
		}
		last := &events[len(events)-1]
		if err := s.applier.saveCursor(c.Name, cursorEvent{last.Seq, last.Hash}); err != nil {
			return err
		}
		at = last.Seq
	}
}

func (c *Consumer) batch() int {
	if c.Batch > 0 {
		return c.Batch
	}
	return maxPageEvents
}

func (c *Consumer) fail(seq uint64, reason error) {
	if c.Failed != nil {
		c.Failed(seq, reason)
	}
}

// handle calls Handle for a batch, and for its events one by one after a panic.
func (c *Consumer) handle(ctx context.Context, events []choir.Event) error {
	panicked, err := c.attempt(ctx, events)
	if panicked == nil {
		return err
	}
	if len(events) == 1 {
		c.fail(events[0].Seq, choir.E("eventstore.consume", choir.CodeInternal, "%s panicked on event %d and goes on without it: %v", c.Name, events[0].Seq, panicked))
		return nil
	}
	for i := range events {
		if err := c.handle(ctx, events[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// attempt calls Handle once and returns the value of a panic, nil for none, and
// Handle's error.
func (c *Consumer) attempt(ctx context.Context, events []choir.Event) (panicked any, err error) {
	defer func() { panicked = recover() }()
	return nil, c.Handle(ctx, events)
}
