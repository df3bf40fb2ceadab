package eventstore

import (
	"context"
	"iter"
	"slices"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// repoTypes are the types of the events that say what a computer's projects are, what was
// committed and pushed, and what was taken back of them.
var repoTypes = []choir.Type{
	choir.TypeRepoAdded, choir.TypeRepoLinked, choir.TypeRepoPushed, choir.TypeRepoPushFailed,
	choir.TypeCheckpointCreated, choir.TypeTimelineUndone, choir.TypeTimelineRewound,
}

// repoIndexVersion is the schema version that introduced repoIndex.
const repoIndexVersion = 11

// repoIndex is the SQL that creates the index of the events of repoTypes, which are read
// without the rest of the log.
var repoIndex = "CREATE INDEX IF NOT EXISTS events_of_repos ON events (seq) WHERE " + typeIn(repoTypes...)

// RepoEvents reads the events about projects after a number, in ascending order: those of
// projects, of their commits and pushes, and of undos and rewinds. Pages, locks and errors
// are as of EventsOfRun.
func (s *Store) RepoEvents(ctx context.Context, after uint64) iter.Seq2[choir.Event, error] {
	return s.eventsWhere(ctx, after, typeIn(repoTypes...))
}

// Projects returns the names of the projects added up to event seq, each once, in the
// order of their first addition.
func (t *Tables) Projects(ctx context.Context, seq uint64) ([]string, error) {
	var events []choir.Event
	err := t.read(ctx, func(conn *sqlite.Conn) error {
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
func (t *Tables) BroughtBy(ctx context.Context, name string) (choir.Source, error) {
	var events []choir.Event
	err := t.read(ctx, func(conn *sqlite.Conn) error {
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
