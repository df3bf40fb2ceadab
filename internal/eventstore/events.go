package eventstore

import (
	"context"
	"math"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// MaxEvents is the largest number of events that one call returns.
const MaxEvents = 10_000

type mayLag struct{}

// MayLag marks a context so that reads succeed without the newest events while the
// SQLite copy cannot be written, for example on a full disk. A read of one thing that is
// not in the copy fails nevertheless, because the newest events may have it. A caller that decides by
// the result what to append must not use it.
func MayLag(ctx context.Context) context.Context { return context.WithValue(ctx, mayLag{}, true) }

// MustNotLag revokes MayLag in a context, for callers that cache the result or decide
// by it what to append.
func MustNotLag(ctx context.Context) context.Context { return context.WithValue(ctx, mayLag{}, nil) }

// lags reports whether MayLag marks a context.
func lags(ctx context.Context) bool { return ctx.Value(mayLag{}) != nil }

// read calls fn with a connection that sees all acknowledged events, or, if MayLag
// allows it, as many as possible.
func (s *Store) read(ctx context.Context, fn func(*sqlite.Conn) error) error {
	head, _ := s.journal.Head()
	if err := s.applier.waitFor(ctx, head); err != nil && (ctx.Err() != nil || !lags(ctx)) {
		s.reportDamage(err)
		return err
	}
	err := s.pool.use(ctx, fn)
	s.reportDamage(err)
	return err
}

// CatchUp makes the SQLite copy apply the newest events at once, before an expected
// read. It does not wait for that.
func (s *Store) CatchUp() { s.applier.hurry() }

// MustHave returns an error if the log has no event with the number seq: code invalid
// for 0, not_found above the newest event.
func (s *Store) MustHave(seq uint64) error {
	head, _ := s.Head()
	switch {
	case seq == 0:
		return choir.RefuseField("seq", choir.ReasonFieldEventNumber)
	case seq > head:
		return choir.Refuse("computer.moment", choir.ReasonNoEvent, choir.CountOf("event", seq), choir.CountOf("head", head))
	}
	return nil
}

// EventsAfter returns one page: up to limit events after number seq, in ascending
// order. It serves requests for pages; loops use Events.
func (s *Store) EventsAfter(ctx context.Context, seq uint64, limit int) ([]choir.Event, error) {
	head, _ := s.Head()
	if seq >= head {
		return nil, nil
	}
	return s.page(ctx, seq, head, pageLimit{bounded(limit), noByteLimit})
}

// noByteLimit is the byte limit of a page that is limited by the number of events only.
const noByteLimit = math.MaxInt

// Event returns the event with an id; code not_found. It waits for the SQLite copy only
// if the id is neither cached nor certainly new, because idempotent callers ask before
// each action.
func (s *Store) Event(ctx context.Context, id choir.ID) (choir.Event, error) {
	seq, recent := s.recent.seq(id)
	if recent {
		if e, ok := s.tail.at(seq); ok && e.ID == id {
			return e, nil
		}
	} else if !s.applier.static && s.recent.lacksID(id) {
		return choir.Event{}, notFound("event", string(id))
	}
	read := s.read
	if head, _ := s.journal.Head(); !recent && s.applier.reached()+recentEvents > head {
		read = s.pool.use // what the copy lacks would be remembered
	}
	var out []choir.Event
	err := read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT event FROM events WHERE id = ?", decoded(&out), id)
	})
	if err != nil {
		return choir.Event{}, err
	}
	if len(out) == 0 {
		return choir.Event{}, notFound("event", string(id))
	}
	return out[0], nil
}

// decoded returns a row function for query that decodes the event in the first column
// and appends it to out. Code corrupt: the event cannot be decoded.
func decoded(out *[]choir.Event) func(*sqlite.Stmt) error {
	return func(st *sqlite.Stmt) error {
		e, err := choir.DecodeEvent([]byte(st.ColumnText(0)))
		if err != nil {
			return unreadable(err)
		}
		*out = append(*out, e)
		return nil
	}
}

// unreadable is the error for an event of the SQLite copy that cannot be decoded.
func unreadable(err error) error {
	return choir.Wrap("eventstore.read", choir.CodeCorrupt, err, "an event of the SQLite copy is damaged; run `choir log --verify`")
}

func bounded(limit int) int {
	if limit <= 0 || limit > MaxEvents {
		return MaxEvents
	}
	return limit
}

func notFound(what, name string) error {
	return choir.Refuse("eventstore.read", choir.ReasonNotInLog, choir.TextOf("id", name)).At(what)
}
