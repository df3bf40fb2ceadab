package eventstore

import (
	"context"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// First finds the event of a type about a subject, of which the log has one: the
// values of the fields in choir.TypeInfo.Once, in their order. Code not_found.
func (s *Store) First(ctx context.Context, t choir.Type, subject ...string) (choir.Event, error) {
	key := choir.NewOnceKey(t, subject...)
	known, ok := s.recent.first(key)
	seq := known.seq
	if !ok && !s.applier.static && s.recent.unheard(key) {
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

// Result is the answer to a task, of which the log has one. Code not_found.
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

// firstSeq asks the database for the event of a key that is not remembered; 0 when
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

// askEarlier runs fn with a connection that sees every event that is no longer
// remembered by recent.
func (s *Store) askEarlier(ctx context.Context, fn func(*sqlite.Conn) error) error {
	if head, _ := s.journal.Head(); s.applier.reached()+recentEvents <= head {
		return s.read(ctx, fn) // the database lacks events that are forgotten
	}
	return s.pool.use(ctx, fn)
}

// onceKey is the key of an event of which the log has one; empty for others. It
// is computed at the first use.
func (it *item) onceKey() choir.OnceKey {
	if !it.keyed {
		e := &it.event
		it.once, _ = choir.OnceKeys(e.Type, e.Run, e.Task, e.Cause, e.Payload)
		it.keyed = true
	}
	return it.once
}

// firstsTable has the first event of its type about a subject; the key is
// choir.OnceKey. addFirst writes it, whatever the type of the event.
var firstsTable = &listed{projection{
	name: "firsts", since: firstsVersion, key: 1, columns: []column{keyColumn, seqColumn}, keepsFirst: true,
}}

// addFirst notes the event of a key; an earlier one of the same key stays.
func (v *view) addFirst(it *item) {
	if key := it.onceKey(); key != "" {
		v.add(&firstsTable.projection, row{key: string(key), seq: it.event.Seq})
	}
}

// firstsVersion is the schema that has the table.
const firstsVersion = 7

// fillFirsts makes the table of a copy that was written without it. A row that
// cannot be read is left out: verification makes the table anew.
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
