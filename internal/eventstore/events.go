package eventstore

import (
	"context"

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
		return err
	}
	return s.pool.use(ctx, fn)
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

// EventsAfter gives up to limit events after seq, in order.
func (s *Store) EventsAfter(ctx context.Context, seq uint64, limit int) ([]choir.Event, error) {
	limit = bounded(limit)
	if events, ok := s.tail.after(seq, limit); ok {
		return events, nil
	}
	var out []choir.Event
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT event FROM events WHERE seq > ? ORDER BY seq LIMIT ?", decoded(&out), seq, limit)
	})
	if choir.CodeOf(err) == choir.CodeCorrupt {
		return s.intactAfter(ctx, seq, limit)
	}
	return out, err
}

// intactAfter is EventsAfter with both copies, for when one is damaged there.
func (s *Store) intactAfter(ctx context.Context, seq uint64, limit int) (out []choir.Event, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		return unlessStopped(s.journal.ReadIntact(seq+1, fetchFrom(conn), func(_ uint64, raw []byte) error {
			if len(out) == limit {
				return errStop
			}
			e, err := choir.DecodeEvent(raw)
			out = append(out, e)
			return err
		}))
	})
	return out, err
}

// EventsOfRun gives up to limit events of a run after seq, in order.
func (s *Store) EventsOfRun(ctx context.Context, run choir.ID, after uint64, limit int) ([]choir.Event, error) {
	var out []choir.Event
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT event FROM events WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?", decoded(&out), run, after, bounded(limit))
	})
	return out, err
}

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
			return choir.Wrap("eventstore.read", choir.CodeCorrupt, err, "an event of the SQLite copy is damaged; run `choir log --verify`")
		}
		*out = append(*out, e)
		return nil
	}
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
