package eventstore

import (
	"context"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// Windows lists the windows as of event asOf (0 means now), from bottom to top.
func (t *Tables) Windows(ctx context.Context, asOf uint64) ([]Window, error) {
	holds, args := holding(asOf)
	return list[Window](ctx, t, "SELECT value FROM windows WHERE "+holds+" ORDER BY json_extract(value, '$.focused_seq'), key", args...)
}

// Settings lists the desktop's settings that differ from their default as of event asOf
// (0 means now), ordered by key; the theme is one of them.
func (t *Tables) Settings(ctx context.Context, asOf uint64) ([]Setting, error) {
	holds, args := holding(asOf, sourceSetting)
	return list[Setting](ctx, t, "SELECT value FROM settings WHERE key <> ?1 AND "+holds+" ORDER BY key", args...)
}

// SourceUpgraded returns the newest upgrade of the desktop's source in force; code
// not_found if the source was never upgraded.
func (t *Tables) SourceUpgraded(ctx context.Context) (choir.DesktopUpgraded, error) {
	return one[choir.DesktopUpgraded](ctx, t, "upgrade of", "the desktop's source",
		"SELECT value FROM settings WHERE key = ?1 AND to_seq = 9007199254740991", sourceSetting)
}

// ThemeOutdated reports whether the theme file at path changed after the current theme
// was set.
func (t *Tables) ThemeOutdated(ctx context.Context, path string) (yes bool, err error) {
	err = t.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, `SELECT (SELECT coalesce(max(from_seq), 0) FROM files WHERE key = ?1)
			> (SELECT coalesce(max(from_seq), 0) FROM settings WHERE key = ?2)`, func(st *sqlite.Stmt) error {
			yes = st.ColumnBool(0)
			return nil
		}, path, ThemeSetting)
	})
	return yes, err
}

// LastChange returns the number of the last event that changed a file below a folder, 0
// if none did. The folder ends with a slash.
func (t *Tables) LastChange(ctx context.Context, folder string) (uint64, error) {
	var last uint64
	err := t.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, `SELECT coalesce(max(from_seq), 0), coalesce(max(CASE WHEN to_seq < ?3 THEN to_seq END), 0)
			FROM files WHERE key >= ?1 AND key < ?2`, func(st *sqlite.Stmt) error {
			last = uint64(max(st.ColumnInt64(0), st.ColumnInt64(1)))
			return nil
		}, folder, folder[:len(folder)-1]+"0", stillHolds)
	})
	return last, err
}
