package eventstore

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/journal"
)

// memoryNames tells the private databases of OpenReadOnly apart.
var memoryNames atomic.Uint64

// OpenReadOnly opens a log for reading only; it changes nothing on disk and may
// be used beside a computer that runs. When the SQLite copy is not exactly up to
// date it is left alone and the projections are made in memory.
func OpenReadOnly(ctx context.Context, dir string) (*Store, error) {
	s := &Store{dir: dir, opened: opened{readOnly: "it was opened for reading only"}}
	j, err := journal.Open(filepath.Join(dir, journalDir), journal.Config{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	s.journal = j
	s.head, _ = j.Head()
	if err := s.openCopy(ctx); err != nil {
		j.Close() // nothing was written
		return nil, err
	}
	return s, nil
}

func (s *Store) openCopy(ctx context.Context) error {
	path := filepath.Join(s.dir, sqliteFile)
	if _, err := os.Stat(path + "-wal"); os.IsNotExist(err) {
		uri := (&url.URL{Scheme: "file", Path: path, RawQuery: "immutable=1"}).String()
		conn, err := sqlite.OpenConn(uri, sqlite.OpenReadOnly, sqlite.OpenURI)
		if err == nil {
			last, lerr := lastEvent(conn)
			if lerr == nil && last.Seq == s.head {
				s.pool = newPool(uri, sqlite.OpenReadOnly, sqlite.OpenURI)
				s.serveFrom(conn)
				return nil
			}
			conn.Close() // read only: nothing can be lost
		}
	}
	return s.copyIntoMemory(ctx)
}

func (s *Store) copyIntoMemory(ctx context.Context) error {
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
	err = s.applier.rebuild(ctx, s.journal, 0, s.head)
	if choir.CodeOf(err) == choir.CodeCorrupt {
		s.opened.readOnly = err.Error()
		return nil
	}
	if err != nil {
		s.Close() // the first error is the one to tell
	}
	return err
}

// serveFrom sets the applier up without anything to apply.
func (s *Store) serveFrom(conn *sqlite.Conn) {
	s.applier.start(conn)
	close(s.applier.done)
	s.applier.applied, s.applier.static = s.head, true
}
