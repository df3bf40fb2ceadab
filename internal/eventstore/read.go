package eventstore

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// ErrAhead is the cause of Follow's error for a cursor greater than the number of the
// newest event: the cursor is of another log, or of a later state of this one.
var ErrAhead = errors.New("the cursor is ahead of the log")

// At returns the event with number seq. Code not_found: the log has no such event;
// numbers begin with 1. Code corrupt: the event is damaged in both copies of the log.
func (s *Store) At(ctx context.Context, seq uint64) (choir.Event, error) {
	if e, ok := s.tail.at(seq); ok {
		return e, nil
	}
	if head, _ := s.Head(); seq == 0 || seq > head {
		return choir.Event{}, notFound("event", utoa(seq))
	}
	p := pageReader{limit: pageLimit{1, 1}}
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return p.read(conn, "SELECT event FROM events WHERE seq = ?", seq)
	})
	// The copy may lag, see MayLag; the journal has the event.
	if choir.CodeOf(err) == choir.CodeCorrupt || err == nil && len(p.events) == 0 {
		p.events, err = s.intactPage(ctx, seq-1, seq, p.limit)
	}
	switch {
	case err != nil:
		return choir.Event{}, err
	case len(p.events) == 1:
		return p.events[0], nil
	}
	return choir.Event{}, choir.Refuse("eventstore.read", choir.ReasonEventUnreadable, choir.TextOf("event", seq))
}

// Events reads the events from one number to another, both included, in ascending
// order. The range ends at the newest event there is when the reading begins, also
// when to is greater, or 0, which stands for that event. From 0 is from 1.
//
// The events are read in pages of at most 512 events and about 1 MiB. No lock and
// no connection is held while the loop's body runs: the body may read, append and
// take its time. An event that neither copy of the log has whole is left out.
//
// An error is the last pair, without an event: code cancelled when the context
// ended, else that of the read that failed. Each loop over the sequence reads anew.
func (s *Store) Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error] {
	return func(yield func(choir.Event, error) bool) {
		head, _ := s.Head()
		if to == 0 || to > head {
			to = head
		}
		s.ascend(ctx, max(from, 1), to, s.firstPage(), yield)
	}
}

// Backwards reads the events before a number, in descending order down to the
// first; before 0 means all that there are when the reading begins. Pages, locks,
// damaged events and errors are as of Events.
func (s *Store) Backwards(ctx context.Context, before uint64) iter.Seq2[choir.Event, error] {
	return func(yield func(choir.Event, error) bool) {
		next, _ := s.Head()
		if before != 0 {
			next = min(before-1, next)
		}
		for size := s.firstPage(); next > 0; size = s.nextPage(size) {
			events, below, err := s.pageBack(ctx, next, size)
			if err != nil {
				yield(choir.Event{}, err)
				return
			}
			if !yieldPage(ctx, events, yield) {
				return
			}
			next = below
		}
	}
}

// Follow reads the events after a cursor, the number of an event or 0, in ascending
// order, and waits for new ones. Each event comes once and none is passed over,
// however slow the loop's body is. Pages and locks are as of Events.
//
// The sequence ends with the loop or with an error, which is the last pair: code
// cancelled when the context ended, code conflict with the cause ErrAhead when the
// cursor is greater than the number of the newest event, else that of the read that
// failed. The loop can go on behind the last event it had with another Follow.
func (s *Store) Follow(ctx context.Context, cursor uint64) iter.Seq2[choir.Event, error] {
	ctx = MustNotLag(ctx) // an event that lags would be passed over
	return func(yield func(choir.Event, error) bool) {
		at := cursor
		if head, _ := s.Head(); at > head {
			yield(choir.Event{}, choir.Wrap("eventstore.follow", choir.CodeConflict, ErrAhead, "event %d is to be followed, and the log ends at %d", at, head))
			return
		}
		size := s.firstPage()
		for {
			if err := s.WaitPast(ctx, at); err != nil {
				yield(choir.Event{}, err)
				return
			}
			head, _ := s.Head()
			if !s.ascend(ctx, at+1, head, size, yield) {
				return
			}
			at, size = head, s.nextPage(size)
		}
	}
}

// EventsOfRun reads the events of a run after a number, in ascending order, up to
// the newest there is when the last page is read. Pages, locks and errors are as of
// Events; a damaged event is code corrupt.
func (s *Store) EventsOfRun(ctx context.Context, run choir.ID, after uint64) iter.Seq2[choir.Event, error] {
	return s.eventsWhere(ctx, after, "run = ?", run)
}

// EventsOfRunOf reads as EventsOfRun does, from the run's first event, those of some types
// only. It does not read the others.
func (s *Store) EventsOfRunOf(ctx context.Context, run choir.ID, types ...choir.Type) iter.Seq2[choir.Event, error] {
	return s.eventsWhere(ctx, 0, "run = ? AND "+typeIn(types...), run)
}

// EventsOfTypes reads as EventsOfRun does the events of some types, of all runs and none.
func (s *Store) EventsOfTypes(ctx context.Context, after uint64, types ...choir.Type) iter.Seq2[choir.Event, error] {
	return s.eventsWhere(ctx, after, typeIn(types...))
}

// typeIn returns the SQL that selects events of some types.
func typeIn(types ...choir.Type) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = "'" + string(t) + "'"
	}
	return "type IN (" + strings.Join(names, ", ") + ")"
}

// eventsWhere reads the events after a number that an SQL condition selects, in ascending
// order.
func (s *Store) eventsWhere(ctx context.Context, after uint64, where string, args ...any) iter.Seq2[choir.Event, error] {
	return func(yield func(choir.Event, error) bool) {
		for size, at := s.firstPage(), after; ; size = s.nextPage(size) {
			p := pageReader{limit: size}
			err := s.read(ctx, func(conn *sqlite.Conn) error {
				return p.read(conn, selectEvents(where), append(slices.Clone(args), at, size.events)...)
			})
			if err != nil {
				yield(choir.Event{}, err)
				return
			}
			if !yieldPage(ctx, p.events, yield) || !p.full() {
				return
			}
			at = p.events[len(p.events)-1].Seq
		}
	}
}

// selectEvents returns the SQL that reads a page of the events that a condition selects,
// after a number.
func selectEvents(where string) string {
	return "SELECT event FROM events WHERE " + where + " AND seq > ? ORDER BY seq LIMIT ?"
}

// ascend yields the events from one number to another, both included, page by page. It
// returns false if the loop or an error ended it.
func (s *Store) ascend(ctx context.Context, from, to uint64, size pageLimit, yield func(choir.Event, error) bool) bool {
	for ; from <= to; size = s.nextPage(size) {
		events, err := s.page(ctx, from-1, to, size)
		if err != nil {
			yield(choir.Event{}, err)
			return false
		}
		if len(events) == 0 {
			return s.allSeen(ctx, to, yield) // what is left is damaged, or lags
		}
		if !yieldPage(ctx, events, yield) {
			return false
		}
		from = events[len(events)-1].Seq + 1
	}
	return true
}

// allSeen reports whether the SQLite copy has every event up to a number, or the
// context allows it to lag. Otherwise it yields an error with code unavailable: the log
// was closed meanwhile.
func (s *Store) allSeen(ctx context.Context, to uint64, yield func(choir.Event, error) bool) bool {
	if s.applier.reached() >= to || ctx.Value(mayLag{}) != nil {
		return true
	}
	yield(choir.Event{}, choir.Refuse("eventstore.read", choir.ReasonLogClosedBefore, choir.TextOf("event", to)))
	return false
}

// yieldPage yields the events of a page. It returns false if the loop ended, or the
// context, whose error it yields.
func yieldPage(ctx context.Context, events []choir.Event, yield func(choir.Event, error) bool) bool {
	for i := range events {
		if err := ctx.Err(); err != nil {
			yield(choir.Event{}, choir.Wrap("eventstore.read", choir.CodeCancelled, err, "stopped before event %d", events[i].Seq))
			return false
		}
		if !yield(events[i], nil) {
			return false
		}
	}
	return true
}

// pageLimit limits one read; the last event may exceed the byte limit.
type pageLimit struct{ events, bytes int }

const (
	// firstPageEvents is small, because a loop that looks for one event often ends
	// there.
	firstPageEvents = 32
	pageGrowth      = 4
	maxPageEvents   = 512
	maxPageBytes    = 1 << 20
)

func (s *Store) firstPage() pageLimit {
	if n := s.cfg.pageEvents; n > 0 {
		return pageLimit{n, maxPageBytes}
	}
	return pageLimit{firstPageEvents, maxPageBytes}
}

func (s *Store) nextPage(last pageLimit) pageLimit {
	if s.cfg.pageEvents == 0 {
		last.events = min(last.events*pageGrowth, maxPageEvents)
	}
	return last
}

// page returns events after one number and up to another, in ascending order. It takes
// each event from whichever copy has it undamaged, and returns none only if the range
// has no undamaged event.
func (s *Store) page(ctx context.Context, after, to uint64, limit pageLimit) ([]choir.Event, error) {
	if events, ok := s.tail.after(after, limit.events); ok && len(events) > 0 {
		for events[len(events)-1].Seq > to {
			events = events[:len(events)-1] // the first is after + 1, which is no greater than to
		}
		return events, nil
	}
	p := pageReader{limit: limit}
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return p.read(conn, "SELECT event FROM events WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?", after, to, limit.events)
	})
	if choir.CodeOf(err) == choir.CodeCorrupt {
		return s.intactPage(ctx, after, to, limit)
	}
	return p.events, err
}

// pageBack returns events from number from down, in descending order, and the number at
// which the next page begins, 0 after the last page.
func (s *Store) pageBack(ctx context.Context, from uint64, limit pageLimit) (events []choir.Event, below uint64, err error) {
	if events := s.tail.before(from, limit.events); len(events) > 0 {
		return events, events[len(events)-1].Seq - 1, nil
	}
	p := pageReader{limit: limit}
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		return p.read(conn, "SELECT event FROM events WHERE seq <= ? ORDER BY seq DESC LIMIT ?", from, limit.events)
	})
	if choir.CodeOf(err) == choir.CodeCorrupt {
		below = from - min(from, uint64(limit.events))
		events, err = s.intactPage(ctx, below, from, pageLimit{limit.events, maxPageBytes * limit.events})
		slices.Reverse(events)
		return events, below, err
	}
	if err != nil || len(p.events) == 0 {
		return nil, 0, err
	}
	return p.events, p.events[len(p.events)-1].Seq - 1, nil
}

// intactPage is page from both copies, for ranges in which the SQLite copy is damaged.
func (s *Store) intactPage(ctx context.Context, after, to uint64, limit pageLimit) ([]choir.Event, error) {
	p := pageReader{limit: limit}
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		return unlessStopped(s.journal.ReadIntact(after+1, fetchFrom(conn), func(seq uint64, raw []byte) error {
			if seq > to {
				return errStop
			}
			return p.add(raw)
		}))
	})
	return p.events, err
}

// pageReader collects the events of one page.
type pageReader struct {
	limit  pageLimit
	events []choir.Event
	bytes  int
}

// full reports whether the page has reached its limit, so that more events may follow.
func (p *pageReader) full() bool {
	return len(p.events) >= p.limit.events || p.bytes >= p.limit.bytes
}

// add decodes and adds one event; it returns errStop if the page is full afterwards.
func (p *pageReader) add(raw []byte) error {
	e, err := choir.DecodeEvent(raw)
	if err != nil {
		return err
	}
	p.events = append(p.events, e)
	if p.bytes += len(raw); p.full() {
		return errStop
	}
	return nil
}

// read adds the events that a query returns. Code corrupt: an event cannot be decoded.
func (p *pageReader) read(conn *sqlite.Conn, sql string, args ...any) error {
	return unlessStopped(query(conn, sql, func(st *sqlite.Stmt) error {
		err := p.add([]byte(st.ColumnText(0)))
		if err != nil && !errors.Is(err, errStop) {
			return unreadable(err)
		}
		return err
	}, args...))
}
