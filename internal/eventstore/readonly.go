package eventstore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/journal"
	"choiros/internal/recovery"
)

// memoryNames numbers the in-memory databases of OpenReadOnly.
var memoryNames atomic.Uint64

// OpenReadOnly opens a log for reading; it changes no event on disk and works beside a
// running computer. Damage in one copy is read from the other and listed by Damaged;
// damage in both is listed by Holes. If the SQLite copy is out of date or has an older
// schema, the projections are computed in memory.
func OpenReadOnly(ctx context.Context, dir string) (*Store, error) {
	s := &Store{dir: dir, opened: opened{readOnly: OnlyReading}}
	s.Tables.read = s.read
	s.barrier = recovery.NewBarrier(s.drain)
	c := openCopy(filepath.Join(dir, sqliteFile))
	j, err := journal.Open(filepath.Join(dir, journalDir), journal.Config{ReadOnly: true, Acked: c.last.Seq})
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	s.journal = j
	seq, hash := j.Head()
	s.opened.last = choir.Event{Seq: seq, Hash: hash}
	if c.last.Seq >= seq && c.conn != nil {
		s.opened.last = c.last
	}
	s.head = s.opened.last.Seq
	if err := s.describeDamage(c); err != nil {
		return nil, errors.Join(err, c.close(), j.Close())
	}
	if err := s.serveCopy(ctx, c); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return s, nil
}

// OnlyReading is the result of ReadOnly for an undamaged log that OpenReadOnly opened.
const OnlyReading = "it was opened for reading only"

// describeDamage records the damage found at open: repairable ranges, holes, and the
// reason why the log is read-only.
func (s *Store) describeDamage(c copied) error {
	fetch, done := s.fetchAll(fetchFrom(c.conn))
	defer done()
	damage, err := s.journal.Blame(s.journal.Damage(), fetch)
	if err != nil {
		return err
	}
	s.opened.damaged, s.opened.holes = divide(damage, fetch)
	if c.damage != "" && s.head > 0 {
		s.opened.sqliteDamage = c.damage
		s.opened.damaged = append(s.opened.damaged, choir.LogRepaired{Copy: "sqlite", From: 1, To: s.head, Damage: clip(c.damage), Kind: "file"})
	}
	for i, d := range s.opened.damaged {
		if i == mostTold {
			s.opened.readOnly += fmt.Sprintf("; %d more ranges are damaged in one copy", len(s.opened.damaged)-i)
			break
		}
		s.opened.readOnly += fmt.Sprintf("; events %d to %d are damaged in the %s copy and read from the other (%s)", d.From, d.To, d.Copy, d.Damage)
	}
	if len(s.opened.holes) > 0 {
		s.opened.readOnly += "; " + holesText(s.opened.holes)
	}
	return nil
}

// copied is the SQLite copy on disk, opened for reading.
type copied struct {
	uri    string
	flags  []sqlite.OpenFlags
	conn   *sqlite.Conn // nil when it cannot be opened
	last   choir.Event
	damage string
	// foreign says that another choir made its projections.
	foreign bool
}

// openCopy opens the SQLite copy for reading. With a write-ahead log it uses SQLite's
// locking, so that it can read beside a writer. Without one, or with an empty one and
// no writer, it opens the file as immutable and touches nothing else.
func openCopy(path string) copied {
	c := copied{uri: path, flags: []sqlite.OpenFlags{sqlite.OpenReadOnly}}
	if _, err := os.Stat(path); err != nil {
		c.damage = "the SQLite copy is missing"
		return c
	}
	if wal, err := os.Stat(path + "-wal"); os.IsNotExist(err) || err == nil && wal.Size() == 0 && !journal.InUse(filepath.Join(filepath.Dir(path), journalDir)) {
		c.uri = (&url.URL{Scheme: "file", Path: path, RawQuery: "immutable=1"}).String()
		c.flags = append(c.flags, sqlite.OpenURI)
	}
	conn, err := sqlite.OpenConn(c.uri, c.flags...)
	if err == nil {
		c.conn = conn
		c.last, err = lastEvent(conn)
	}
	if err == nil {
		c.foreign, err = madeByOthers(conn)
	}
	if err != nil {
		c.damage = "the SQLite copy cannot be read: " + err.Error()
	}
	return c
}

func (c copied) close() error {
	if c.conn == nil {
		return nil
	}
	return c.conn.Close()
}

// serveCopy makes the store read from the SQLite copy on disk if that is up to date,
// else from a copy in memory.
func (s *Store) serveCopy(ctx context.Context, c copied) error {
	if c.damage == "" && !c.foreign && c.last.Seq == s.head {
		s.pool = newPool(c.uri, c.flags...)
		s.serveFrom(c.conn)
		return nil
	}
	err := s.copyIntoMemory(ctx, c.conn)
	return errors.Join(err, c.close())
}

// copyIntoMemory computes the projections in memory from all events that are undamaged
// in either copy.
func (s *Store) copyIntoMemory(ctx context.Context, other *sqlite.Conn) error {
	uri := "file:choir-" + strconv.FormatUint(memoryNames.Add(1), 10) + "?mode=memory&cache=shared"
	flags := []sqlite.OpenFlags{sqlite.OpenReadWrite, sqlite.OpenCreate, sqlite.OpenURI, sqlite.OpenMemory, sqlite.OpenSharedCache}
	conn, err := sqlite.OpenConn(uri, flags...)
	if err == nil {
		err = migrate(conn)
	}
	if err != nil {
		return sqliteError("eventstore.open", err)
	}
	s.pool = newPool(uri, flags...)
	s.serveFrom(conn)
	fetch, done := s.fetchAll(fetchFrom(other))
	defer done()
	if err := s.applier.rebuild(ctx, s.intact(1, fetch), 0, s.head); err != nil {
		return errors.Join(err, s.applier.stop(), s.pool.close())
	}
	return nil
}

// serveFrom sets up the applier for a store that applies nothing.
func (s *Store) serveFrom(conn *sqlite.Conn) {
	s.applier.start(conn)
	close(s.applier.done)
	s.applier.applied, s.applier.static = s.head, true
}
