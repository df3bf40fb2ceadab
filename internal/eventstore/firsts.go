package eventstore

import (
	"context"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// First returns the event of type t about a subject, for types of which the log has one
// event per subject. subject has the values of the fields in choir.TypeInfo.Once, in
// their order. Code not_found.
func (s *Store) First(ctx context.Context, t choir.Type, subject ...string) (choir.Event, error) {
	key := choir.NewOnceKey(t, subject...)
	known, ok := s.recent.first(key)
	seq := known.seq
	if !ok && !s.applier.static && s.recent.lacksKey(key) {
		return choir.Event{}, notFound("event", string(t))
	}
	if !ok {
		var err error
		if seq, err = s.firstSeq(ctx, key); err != nil {
			return choir.Event{}, err
		}
	}
	if seq == 0 {
		return choir.Event{}, notFound("event", string(t))
	}
	return s.At(ctx, seq)
}

// Result returns the Associate's answer to a task. Code not_found: the task has not
// returned.
func (s *Store) Result(ctx context.Context, task choir.ID) (choir.AssociateResult, error) {
	e, err := s.First(ctx, choir.TypeTaskReturned, string(task))
	if err != nil {
		return choir.AssociateResult{}, err
	}
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return choir.AssociateResult{}, choir.Wrap("eventstore.read", choir.CodeCorrupt, err, "event %d", e.Seq)
	}
	return p.(*choir.TaskReturned).Result, nil
}

// firstSeq returns the number of the event with a once key from the database, 0 if
// there is none.
func (s *Store) firstSeq(ctx context.Context, key choir.OnceKey) (seq uint64, err error) {
	err = s.askEarlier(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT seq FROM firsts WHERE key = ?", func(st *sqlite.Stmt) error {
			seq = uint64(st.ColumnInt64(0))
			return nil
		}, string(key))
	})
	return seq, err
}

// askEarlier calls fn with a connection that sees all events except possibly those in
// the recent cache.
func (s *Store) askEarlier(ctx context.Context, fn func(*sqlite.Conn) error) error {
	if head, _ := s.journal.Head(); s.applier.reached()+recentEvents <= head {
		return s.read(ctx, fn) // the database lacks events that are forgotten
	}
	return s.pool.use(ctx, fn)
}

// onceKey returns the once key of the event, empty for types without one. It is
// computed at the first use.
func (it *item) onceKey() choir.OnceKey {
	if !it.keyed {
		e := &it.event
		it.once, _ = choir.OnceKeys(e.Type, e.Run, e.Task, e.Cause, e.Payload)
		it.keyed = true
	}
	return it.once
}

// firstsTable maps each choir.OnceKey to the first event with that key. addFirst writes
// it for events of all types.
var firstsTable = &listed{projection{
	name: "firsts", since: firstsVersion, key: 1, columns: []column{keyColumn, seqColumn}, keepsFirst: true,
}}

// addFirst adds the once key of an event, unless an earlier event has the same key.
func (v *view) addFirst(it *item) {
	if key := it.onceKey(); key != "" {
		v.add(&firstsTable.projection, row{key: string(key), seq: it.event.Seq})
	}
}

// firstsVersion is the schema version that introduced the firsts table.
const firstsVersion = 7

// fillFirsts fills the firsts table of a copy with an older schema. It skips events
// that cannot be decoded; verification rebuilds the table.
func fillFirsts(conn *sqlite.Conn) error {
	var rows []row
	err := query(conn, "SELECT event FROM events ORDER BY seq", func(st *sqlite.Stmt) error {
		e, err := choir.DecodeShared([]byte(st.ColumnText(0)))
		if err != nil {
			return nil // as said above
		}
		it := item{event: e}
		if key := it.onceKey(); key != "" {
			rows = append(rows, row{key: string(key), seq: e.Seq})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return firstsTable.write(conn, rows)
}
