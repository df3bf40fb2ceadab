package drafts

import (
	"context"
	"os"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"choiros/internal/choir"
)

// version is the version of the schema; it only grows.
const version = 1

// The schema. AUTOINCREMENT remembers the largest revision, so that none is used twice.
const schema = `
CREATE TABLE IF NOT EXISTS drafts (
	revision INTEGER PRIMARY KEY AUTOINCREMENT,
	app      TEXT NOT NULL,
	subject  TEXT NOT NULL,
	base     TEXT NOT NULL,
	size     INTEGER NOT NULL,
	at_ms    INTEGER NOT NULL,
	by_page  TEXT NOT NULL,
	text     TEXT NOT NULL,
	UNIQUE (app, subject)
) STRICT;
PRAGMA user_version = 1;
`

// Store stores the drafts of one computer in an SQLite file. Its methods are safe for concurrent use.
type Store struct {
	path   string
	now    func() time.Time
	limits limits

	// turn locks conn and closed. It is a channel, so that a waiting caller may give up.
	turn   chan struct{}
	conn   *sqlite.Conn
	closed bool
}

// New returns the store of the file at path, which is created and opened at the first use.
func New(path string, now func() time.Time) *Store {
	return &Store{path: path, now: now, limits: defaults, turn: make(chan struct{}, 1)}
}

// Close closes the file. Later calls fail with code unavailable.
func (s *Store) Close() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.closed = true
	if s.conn == nil {
		return nil
	}
	conn := s.conn
	s.conn = nil
	return s.explain(conn.Close())
}

// use runs fn with the connection to the file. ctx ends the wait for it, and interrupts fn's SQL.
func (s *Store) use(ctx context.Context, fn func(*sqlite.Conn) error) error {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return choir.Wrap("drafts", choir.CodeCancelled, ctx.Err(), "stopped")
	}
	defer func() { <-s.turn }()
	if s.closed {
		return choir.Refuse("drafts", choir.ReasonComputerClosed)
	}
	if err := s.open(); err != nil {
		return s.explain(err)
	}
	s.conn.SetInterrupt(ctx.Done())
	defer s.conn.SetInterrupt(nil)
	err := fn(s.conn)
	if err != nil && ctx.Err() != nil {
		return choir.Wrap("drafts", choir.CodeCancelled, ctx.Err(), "stopped")
	}
	return s.explain(err)
}

// open opens the file, unless it is open. The caller holds the turn.
func (s *Store) open() error {
	if s.conn != nil {
		return nil
	}
	// SQLite gives its other files the mode of this one.
	file, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return choir.Wrap("drafts.open", choir.CodeUnavailable, err, "open the file of the drafts")
	}
	if err := file.Close(); err != nil {
		return choir.Wrap("drafts.open", choir.CodeUnavailable, err, "open the file of the drafts")
	}
	conn, err := sqlite.OpenConn(s.path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	if err := prepare(conn, s.path); err != nil {
		conn.Close() // nothing was written through it that is missed
		return err
	}
	s.conn = conn
	return nil
}

// prepare configures the connection, so that commits are durable and deleted text is overwritten, and
// creates the table. Code unavailable: the file is of a newer choir.
func prepare(conn *sqlite.Conn, path string) error {
	for _, pragma := range []string{"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA secure_delete = ON"} {
		if err := sqlitex.ExecuteTransient(conn, pragma, nil); err != nil {
			return err
		}
	}
	var found int
	err := sqlitex.ExecuteTransient(conn, "PRAGMA user_version", &sqlitex.ExecOptions{ResultFunc: func(row *sqlite.Stmt) error {
		found = row.ColumnInt(0)
		return nil
	}})
	if err != nil || found == version {
		return err
	}
	if found > version {
		return choir.Refuse("drafts.open", choir.ReasonFileOfNewerChoir, choir.TextOf("path", path))
	}
	return sqlitex.ExecuteScript(conn, schema, nil)
}

// explain returns an error of SQLite with its code and remedy; other errors unchanged.
func (s *Store) explain(err error) error {
	if err == nil || choir.CodeOf(err) != choir.CodeInternal {
		return err
	}
	e := &choir.Error{Op: "drafts", Code: choir.CodeInternal, Path: s.path, Msg: "SQLite refused", Err: err}
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull:
		e = choir.Refuse("drafts", choir.ReasonDraftsDiskFull).At(s.path)
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		e = choir.Refuse("drafts", choir.ReasonDraftsDamaged).At(s.path)
	}
	e.Err = err
	return e
}
