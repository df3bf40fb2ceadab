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

// remakeFile is a SQLite copy that is being made; it is nothing until it is whole.
const remakeFile = "store.remake.sqlite"

// drain is what the barrier waits for before a repair: every durable event is in
// the SQLite copy, or the copy is so damaged that it takes none. Then what it
// lacks waits in the applier's queue, and the repair is about that.
func (s *Store) drain(ctx context.Context) error {
	head, _ := s.journal.Head()
	err := s.applier.reach(ctx, head)
	if choir.CodeOf(err) == choir.CodeCorrupt {
		return nil
	}
	return err
}

// remakeSQLite makes the SQLite copy anew from the journal and throws the old one
// away. Reads go on with the old one until then.
func (s *Store) remakeSQLite(ctx context.Context) error {
	return s.barrier.Alone(ctx, recovery.Remake, s.remake)
}

// remake is remakeSQLite behind the barrier.
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

// makeCopy makes a SQLite copy of the journal up to an event in a file of its own.
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

// dropRemake removes a copy that was not finished.
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

// moveIn puts a new copy that has everything up to an event into the place of the
// old one, which nobody reads. Killed in between there is none, and the next open
// makes it. After an error appends are refused until then.
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

// timesRemade is how often the file of the copy was replaced.
func (a *applier) timesRemade() int {
	a.connMu.Lock()
	defer a.connMu.Unlock()
	return a.remade
}

// errNoCopy refuses what needs the SQLite copy after it could not be replaced.
func errNoCopy() error {
	return choir.E("eventstore.apply", choir.CodeUnavailable, "the SQLite copy was damaged and could not be replaced").
		WithRemedy("restart choir: it is made from the journal")
}
