package eventstore

import (
	"context"
	"errors"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// cursorsVersion is the schema that has the table of cursors.
const cursorsVersion = 10

// cursorsTable makes it in a copy that has none; schema.sql has it for new ones.
const cursorsTable = `CREATE TABLE IF NOT EXISTS cursors (name TEXT PRIMARY KEY, seq INTEGER NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID`

// Cursor remembers, under a name and in the computer's own database, the event up to
// which somebody has handled the log. It may be older than what was handled, after a
// crash, and is gone when the SQLite copy was lost; it is never newer. So what is
// handled by it is handled at least once.
type Cursor struct {
	store *Store
	name  string
}

// Cursor is the cursor with a name; there is one of each name.
func (s *Store) Cursor(name string) *Cursor { return &Cursor{s, name} }

// Load reads the cursor: the number of the last event that was handled, 0 when there
// is none. Code conflict with the cause ErrAhead, and 0: the log has not the event
// that the cursor stands at, so it is of another log, or of a later state of this one.
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

// Save moves the cursor to an event; 0 removes it, and all begins anew.
func (c *Cursor) Save(ctx context.Context, seq uint64) error {
	if seq == 0 {
		return c.store.applier.saveCursor(c.name, standing{})
	}
	e, err := c.store.At(ctx, seq)
	if err != nil {
		return err
	}
	return c.store.applier.saveCursor(c.name, standing{e.Seq, e.Hash})
}

// standing is the event that a cursor stands at.
type standing struct {
	seq  uint64
	hash choir.Digest
}

func (c *Cursor) stored(ctx context.Context) (at standing, err error) {
	err = c.store.pool.use(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT seq, hash FROM cursors WHERE name = ?", func(st *sqlite.Stmt) error {
			at = standing{uint64(st.ColumnInt64(0)), choir.Digest(st.ColumnText(1))}
			return nil
		}, c.name)
	})
	return at, err
}

// saveCursor writes a row of the table of cursors, or removes it. The row is there
// after a crash of choir; a power cut may bring an older one back.
func (a *applier) saveCursor(name string, at standing) error {
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

func writeCursor(conn *sqlite.Conn, name string, at standing) error {
	return query(conn, "REPLACE INTO cursors VALUES (?, ?, ?)", nil, name, at.seq, string(at.hash))
}

// carryCursors copies the cursors of a SQLite copy into the one that replaces it. One
// that cannot be read begins anew.
func carryCursors(from, to *sqlite.Conn) error {
	cursors := map[string]standing{}
	readErr := query(from, "SELECT name, seq, hash FROM cursors", func(st *sqlite.Stmt) error {
		cursors[st.ColumnText(0)] = standing{uint64(st.ColumnInt64(1)), choir.Digest(st.ColumnText(2))}
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

// Consume runs a consumer until the context ends, with code cancelled, or with the
// error of Handle or of a read. A cursor that is not of this log is told to Failed, and
// the log is handled from its first event.
func (s *Store) Consume(ctx context.Context, c Consumer) error {
	ctx = context.WithValue(ctx, mayLag{}, nil) // an event that lags would be passed over
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
		if err := s.applier.saveCursor(c.Name, standing{last.Seq, last.Hash}); err != nil {
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

// handle hands a batch over, and event by event once more when Handle panics.
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

// attempt returns the value of a panic of Handle, nil for none, and its error.
func (c *Consumer) attempt(ctx context.Context, events []choir.Event) (panicked any, err error) {
	defer func() { panicked = recover() }()
	return nil, c.Handle(ctx, events)
}
