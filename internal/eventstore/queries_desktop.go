package eventstore

import (
	"context"

	"choiros/internal/choir"
)

// Windows lists the windows as of an event (0 means now), the lowest first.
func (s *Store) Windows(ctx context.Context, asOf uint64) ([]Window, error) {
	return list[Window](ctx, s, "SELECT value FROM windows WHERE from_seq <= ?1 AND to_seq > ?1 ORDER BY json_extract(value, '$.focused_seq'), key", asOfNow(asOf))
}

// Settings lists the desktop's settings that are not at their default as of an
// event (0 means now), in the order of their keys; the theme is one of them.
func (s *Store) Settings(ctx context.Context, asOf uint64) ([]Setting, error) {
	return list[Setting](ctx, s, "SELECT value FROM settings WHERE from_seq <= ?1 AND to_seq > ?1 AND key <> ?2 ORDER BY key", asOfNow(asOf), sourceSetting)
}

// SourceUpgraded is the newest upgrade of the desktop's source that is in force;
// code not_found when it is as the computer was made with.
func (s *Store) SourceUpgraded(ctx context.Context) (choir.DesktopUpgraded, error) {
	return one[choir.DesktopUpgraded](ctx, s, "upgrade of", "the desktop's source",
		"SELECT value FROM settings WHERE key = ?1 AND from_seq <= ?2 AND to_seq > ?2", sourceSetting, asOfNow(0))
}
