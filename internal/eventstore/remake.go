package eventstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/recovery"
)

// remakeFile is the name of a new SQLite copy until it is complete.
const remakeFile = "store.remake.sqlite"

// drain waits, before a repair, until every durable event is in the SQLite copy. It
// also returns nil if the copy is too damaged to be written: the missing events then
// wait in the applier's queue.
func (s *Store) drain(ctx context.Context) error {
	head, _ := s.journal.Head()
	err := s.applier.waitFor(ctx, head)
	if choir.CodeOf(err) == choir.CodeCorrupt {
		return nil
	}
	return err
}

// remakeSQLite replaces the SQLite copy by a new one made from the journal. Reads
// continue on the old one meanwhile.
func (s *Store) remakeSQLite(ctx context.Context) error {
	return s.barrier.Alone(ctx, recovery.Remake, s.remake)
}

// remake does the work of remakeSQLite, alone behind the maintenance barrier.
func (s *Store) remake(ctx context.Context) error {
	path := filepath.Join(s.dir, remakeFile)
	head, _ := s.journal.Head()
	err := s.makeCopy(ctx, path, head)
	if err == nil {
		err = s.pool.replace(ctx, func() error { return s.applier.moveIn(path, filepath.Join(s.dir, sqliteFile), head) })
	}
	if err != nil {
		return errors.Join(err, dropRemake(s.dir))
	}
	return nil
}

// makeCopy creates a SQLite copy of the journal up to event head in a new file.
func (s *Store) makeCopy(ctx context.Context, path string, head uint64) error {
	if err := dropRemake(s.dir); err != nil {
		return err
	}
	conn, err := openWriter(path)
	if err != nil {
		return sqliteError("eventstore.remake", err)
	}
	err = rebuildIn(ctx, conn, wholeJournal(s.journal), 0, head, s.applier.watch)
	if err == nil {
		err = s.pool.use(ctx, func(old *sqlite.Conn) error { return carryCursors(old, conn) })
	}
	if err == nil {
		err = execute(conn, "PRAGMA wal_checkpoint(TRUNCATE)") // the file alone is the copy
	}
	return sqliteError("eventstore.remake", errors.Join(err, conn.Close()))
}

// dropRemake removes an unfinished SQLite copy.
func dropRemake(dir string) error {
	path := filepath.Join(dir, remakeFile)
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return nil
	}
	if err := removeSQLite(path); err != nil {
		return choir.Wrap("eventstore.remake", choir.CodeUnavailable, err, "remove %s, which is not finished", path)
	}
	return nil
}

// moveIn renames a new SQLite copy, complete up to event head, over the old one, which
// nobody reads. After a crash in between there is no copy, and the next open makes one.
// After an error appends are refused until then.
func (a *applier) moveIn(from, to string, head uint64) (err error) {
	a.connMu.Lock()
	defer a.connMu.Unlock()
	a.conn.Close() // it is thrown away
	a.conn = nil
	defer func() {
		if err != nil {
			a.finish(nil, err)
		}
	}()
	err = removeSQLite(to)
	fault.Point("store.remove")
	if err == nil {
		err = os.Rename(from, to)
	}
	if err != nil {
		return choir.Wrap("eventstore.remake", choir.CodeUnavailable, err, "replace the damaged %s", to)
	}
	conn, err := openWriter(to)
	if err != nil {
		return sqliteError("eventstore.remake", err)
	}
	a.conn, a.view = conn, newView(sqliteBase{conn}, a.watch)
	a.remade++
	a.advance(head)
	return nil
}

// timesRemade returns how often the file of the SQLite copy was replaced since open.
func (a *applier) timesRemade() int {
	a.connMu.Lock()
	defer a.connMu.Unlock()
	return a.remade
}

// errNoCopy returns the error of operations that need the SQLite copy after its
// replacement failed.
func errNoCopy() error {
	return choir.Refuse("eventstore.apply", choir.ReasonSQLiteNotReplaced)
}
