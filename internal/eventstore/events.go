package eventstore

import (
	"context"
	"math"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// MaxEvents is how many events one call returns at most.
const MaxEvents = 10_000

type mayLag struct{}

// MayLag lets reads with this context go on while the SQLite copy cannot be
// written, without the newest events: a full disk still shows what there is.
// Whoever appends by what they read must not use it.
func MayLag(ctx context.Context) context.Context { return context.WithValue(ctx, mayLag{}, true) }

// read runs fn with a connection that sees everything acknowledged so far, or,
// where the context allows it, all that can be seen.
func (s *Store) read(ctx context.Context, fn func(*sqlite.Conn) error) error {
	head, _ := s.journal.Head()
	if err := s.applier.reach(ctx, head); err != nil && (ctx.Err() != nil || ctx.Value(mayLag{}) == nil) {
		s.doubt(err)
		return err
	}
	err := s.pool.use(ctx, fn)
	s.doubt(err)
	return err
}

// CatchUp has the SQLite copy take up at once what the log has, because somebody is
// about to read. It does not wait.
func (s *Store) CatchUp() { s.applier.hurry() }

// MustHave refuses the number of an event that is not in the log: code invalid for 0,
// not_found above the newest event.
func (s *Store) MustHave(seq uint64) error {
	head, _ := s.Head()
	switch {
	case seq == 0:
		return choir.Invalid("seq", "must be an event's number, from 1")
	case seq > head:
		return choir.E("computer.moment", choir.CodeNotFound, "there is no event %d; the log ends at %d", seq, head).WithRemedy("choir timeline lists the moments there are")
	}
	return nil
}

// EventsAfter reads one page: up to limit events after a number, in ascending order.
// It is for answers that are pages themselves, to the verb events-after and to a
// request for events; a loop reads with Events.
func (s *Store) EventsAfter(ctx context.Context, seq uint64, limit int) ([]choir.Event, error) {
	head, _ := s.Head()
	if seq >= head {
		return nil, nil
	}
	return s.page(ctx, seq, head, pageLimit{bounded(limit), noByteLimit})
}

// noByteLimit is for a page whose events are counted only.
const noByteLimit = math.MaxInt

// Event finds an event by its id; code not_found. It is what the idempotent ask
// before they act, so it waits for the SQLite copy only when it must.
func (s *Store) Event(ctx context.Context, id choir.ID) (choir.Event, error) {
	seq, recent := s.recent.seq(id)
	if recent {
		if e, ok := s.tail.at(seq); ok && e.ID == id {
			return e, nil
		}
	} else if !s.applier.static && s.recent.unknown(id) {
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

// decoded collects events. One that is not what was written is code corrupt.
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
	return &choir.Error{Op: "eventstore.read", Code: choir.CodeNotFound, Path: what, Msg: name + " is not in the log"}
}
