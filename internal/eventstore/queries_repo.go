package eventstore

import (
	"context"
	"slices"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// Projects names the projects that were brought in until event seq, each once,
// in the order in which they came.
func (s *Store) Projects(ctx context.Context, seq uint64) ([]string, error) {
	var events []choir.Event
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT event FROM events WHERE type = 'repo.added' AND seq <= ? ORDER BY seq", decoded(&events), seq)
	})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range events {
		p, err := choir.DecodePayload(e.Type, e.Payload)
		if err != nil {
			return nil, choir.Wrap("eventstore.read", choir.CodeCorrupt, err, "event %d", e.Seq)
		}
		if name := p.(*choir.RepoAdded).Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}
