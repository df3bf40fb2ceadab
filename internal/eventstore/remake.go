package eventstore

import (
	"context"
	"path/filepath"

	"choiros/internal/choir"
)

// remakeSQLite throws a damaged SQLite copy away and makes it anew from the
// journal. Reads under way finish on the old file.
func (s *Store) remakeSQLite(ctx context.Context) error {
	path := filepath.Join(s.dir, sqliteFile)
	a := &s.applier
	if err := func() error {
		a.connMu.Lock()
		defer a.connMu.Unlock()
		a.conn.Close() // it is thrown away
		if err := removeSQLite(path); err != nil {
			return choir.Wrap("eventstore.repair", choir.CodeUnavailable, err, "remove the damaged %s", path)
		}
		conn, err := openWriter(path)
		if err != nil {
			return sqliteError("eventstore.repair", err)
		}
		a.conn, a.view = conn, newView(sqliteBase{conn})
		s.pool.renew()
		return nil
	}(); err != nil {
		return err
	}
	return a.rebuild(ctx, wholeJournal(s.journal), 0, a.reached())
}
