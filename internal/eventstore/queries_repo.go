package eventstore

import (
	"context"
	"slices"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// Projects returns the names of the projects added up to event seq, each once, in the
// order of their first addition.
func (s *Store) Projects(ctx context.Context, seq uint64) ([]string, error) {
	var events []choir.Event
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT event FROM events WHERE type = '"+string(choir.TypeRepoAdded)+"' AND seq <= ? ORDER BY seq", decoded(&events), seq)
	})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range events {
		added, err := repoAdded(&e)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, added.Name) {
			names = append(names, added.Name)
		}
	}
	return names, nil
}

// BroughtBy returns the source of the newest repo.added event of a project, or "" if
// there is none.
func (s *Store) BroughtBy(ctx context.Context, name string) (choir.Source, error) {
	var events []choir.Event
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT event FROM events WHERE type = '"+string(choir.TypeRepoAdded)+"' ORDER BY seq DESC", decoded(&events))
	})
	if err != nil {
		return "", err
	}
	for _, e := range events {
		added, err := repoAdded(&e)
		if err != nil {
			return "", err
		}
		if added.Name == name {
			return e.Source, nil
		}
	}
	return "", nil
}

func repoAdded(e *choir.Event) (*choir.RepoAdded, error) {
	p, err := choir.DecodePayload(e.Type, e.Payload)
	if err != nil {
		return nil, choir.Wrap("eventstore.read", choir.CodeCorrupt, err, "event %d", e.Seq)
	}
	return p.(*choir.RepoAdded), nil
}
