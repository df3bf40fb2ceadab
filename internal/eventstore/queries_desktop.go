package eventstore

import (
	"context"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// Windows lists the windows as of an event (0 means now), the lowest first.
func (s *Store) Windows(ctx context.Context, asOf uint64) ([]Window, error) {
	holds, args := holding(asOf)
	return list[Window](ctx, s, "SELECT value FROM windows WHERE "+holds+" ORDER BY json_extract(value, '$.focused_seq'), key", args...)
}

// Settings lists the desktop's settings that are not at their default as of an
// event (0 means now), in the order of their keys; the theme is one of them.
func (s *Store) Settings(ctx context.Context, asOf uint64) ([]Setting, error) {
	holds, args := holding(asOf, sourceSetting)
	return list[Setting](ctx, s, "SELECT value FROM settings WHERE key <> ?1 AND "+holds+" ORDER BY key", args...)
}

// SourceUpgraded is the newest upgrade of the desktop's source that is in force;
// code not_found when it is as the computer was made with.
func (s *Store) SourceUpgraded(ctx context.Context) (choir.DesktopUpgraded, error) {
	return one[choir.DesktopUpgraded](ctx, s, "upgrade of", "the desktop's source",
		"SELECT value FROM settings WHERE key = ?1 AND to_seq = 9007199254740991", sourceSetting)
}

// ThemeOutdated says whether a file was changed after the theme in force was set.
func (s *Store) ThemeOutdated(ctx context.Context, path string) (yes bool, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, `SELECT (SELECT coalesce(max(from_seq), 0) FROM files WHERE key = ?1)
			> (SELECT coalesce(max(from_seq), 0) FROM settings WHERE key = ?2)`, func(st *sqlite.Stmt) error {
			yes = st.ColumnBool(0)
			return nil
		}, path, ThemeSetting)
	})
	return yes, err
}

// LastChange is the event that changed a file last whose path begins with a
// folder's, which ends with a slash; 0 when none did.
func (s *Store) LastChange(ctx context.Context, folder string) (uint64, error) {
	var last uint64
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, `SELECT coalesce(max(from_seq), 0), coalesce(max(CASE WHEN to_seq < ?3 THEN to_seq END), 0)
			FROM files WHERE key >= ?1 AND key < ?2`, func(st *sqlite.Stmt) error {
			last = uint64(max(st.ColumnInt64(0), st.ColumnInt64(1)))
			return nil
		}, folder, folder[:len(folder)-1]+"0", stillHolds)
	})
	return last, err
}
