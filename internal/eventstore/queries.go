package eventstore

import (
	"context"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// Tables reads what follows from a log: the rows of its projections. Every read sees all
// events acknowledged before it began.
type Tables struct {
	// read calls fn with a connection to the SQLite copy, see Store.read.
	read func(ctx context.Context, fn func(*sqlite.Conn) error) error
}

// list runs a query and decodes the JSON in the first column of each row.
func list[V any](ctx context.Context, t *Tables, sql string, args ...any) ([]V, error) {
	var out []V
	err := t.read(ctx, func(conn *sqlite.Conn) error { return query(conn, sql, onto(&out), args...) })
	return out, err
}

// one runs a query like list and returns its first row; code not_found if there is
// none.
func one[V any](ctx context.Context, t *Tables, what, name, sql string, args ...any) (V, error) {
	return find(ctx, what, name, func(ctx context.Context) ([]V, error) { return list[V](ctx, t, sql, args...) })
}

// find returns the first row of a read. Code not_found: there is none, in a copy that does
// not lag, even if MayLag allows it. An acknowledged event may be what is missing.
func find[V any](ctx context.Context, what, name string, read func(ctx context.Context) ([]V, error)) (none V, err error) {
	out, err := read(ctx)
	if err == nil && len(out) == 0 && lags(ctx) {
		out, err = read(MustNotLag(ctx))
	}
	switch {
	case err != nil:
		return none, err
	case len(out) == 0:
		return none, notFound(what, name)
	}
	return out[0], nil
}

// asOfNow maps 0, which means now, and numbers beyond the log to a number at which
// every current version holds.
func asOfNow(seq uint64) uint64 {
	if seq == 0 || seq >= stillHolds {
		return stillHolds - 1
	}
	return seq
}

// Tasks lists the tasks of a run in the order of their dispatch.
func (t *Tables) Tasks(ctx context.Context, run choir.ID) ([]Task, error) {
	return list[Task](ctx, t, "SELECT value FROM tasks WHERE run = ? ORDER BY seq", run)
}

// Task returns a task; code not_found.
func (t *Tables) Task(ctx context.Context, id choir.ID) (Task, error) {
	return one[Task](ctx, t, "task", string(id), "SELECT value FROM tasks WHERE key = ?", id)
}

// OpenTasks lists the tasks that have not returned, oldest first.
func (t *Tables) OpenTasks(ctx context.Context) ([]Task, error) {
	return list[Task](ctx, t, "SELECT value FROM tasks WHERE state <> 'returned' ORDER BY seq")
}

// Checkpoints lists up to limit checkpoints before an event, newest first;
// before 0 means all.
func (t *Tables) Checkpoints(ctx context.Context, limit int, before uint64) ([]Checkpoint, error) {
	return list[Checkpoint](ctx, t, "SELECT value FROM checkpoints WHERE seq < ? ORDER BY seq DESC LIMIT ?", asOfNow(before), bounded(limit))
}

// Checkpoint returns a checkpoint; code not_found.
func (t *Tables) Checkpoint(ctx context.Context, id choir.ID) (Checkpoint, error) {
	return one[Checkpoint](ctx, t, "checkpoint", string(id), "SELECT value FROM checkpoints WHERE key = ?", id)
}

// LeftOut returns the paths that snapshots leave out as of an event (0 means now).
func (t *Tables) LeftOut(ctx context.Context, asOf uint64) (choir.CachesLeftOut, error) {
	var events []choir.Event
	err := t.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT event FROM events WHERE type = '"+string(choir.TypeCachesLeftOut)+"' AND seq <= ? ORDER BY seq DESC LIMIT 1", decoded(&events), asOfNow(asOf))
	})
	if err != nil || len(events) == 0 {
		return choir.CachesLeftOut{}, err
	}
	p, err := choir.ReadPayload(events[0].Type, events[0].Payload)
	if err != nil {
		return choir.CachesLeftOut{}, choir.Wrap("eventstore.read", choir.CodeCorrupt, err, "event %d", events[0].Seq)
	}
	return *p.(*choir.CachesLeftOut), nil
}

// SnapshotAt returns the newest snapshot at or before event seq (0 means now), and the
// number of its event; code not_found if there is none.
func (t *Tables) SnapshotAt(ctx context.Context, seq uint64) (choir.SnapshotTaken, uint64, error) {
	var out choir.SnapshotTaken
	var at uint64
	err := t.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT value, seq FROM snapshots WHERE seq <= ? ORDER BY seq DESC LIMIT 1", func(st *sqlite.Stmt) error {
			at = uint64(st.ColumnInt64(1))
			return into(&out)(st)
		}, asOfNow(seq))
	})
	if err == nil && at == 0 {
		err = notFound("snapshot", "a snapshot that old")
	}
	return out, at, err
}

// FirstSnapshot returns the first snapshot in the log and the number of its event;
// number 0 if there is none.
func (t *Tables) FirstSnapshot(ctx context.Context) (first choir.SnapshotTaken, seq uint64, err error) {
	err = t.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT value, seq FROM snapshots ORDER BY seq LIMIT 1", func(st *sqlite.Stmt) error {
			seq = uint64(st.ColumnInt64(1))
			return into(&first)(st)
		})
	})
	return first, seq, err
}

// Files lists files as of event asOf (0 means now) in the byte order of their paths: up
// to limit files whose paths begin with prefix and are greater than after.
func (t *Tables) Files(ctx context.Context, asOf uint64, prefix string, limit int, after string) ([]choir.FileState, error) {
	from := "key > ?1"
	if after < prefix {
		from, after = "key >= ?1", prefix
	}
	holds, args := holding(asOf, after, prefixEnd(prefix))
	files := "files"
	if holds == holdsNow {
		files += " INDEXED BY files_now" // SQLite would go through the past of each path
	}
	return list[choir.FileState](ctx, t, "SELECT value FROM "+files+" WHERE "+from+" AND key < ?2 AND "+holds+" ORDER BY key LIMIT ?", append(args, bounded(limit))...)
}

// prefixEnd returns the smallest string greater than all strings with the prefix, as
// the upper bound of a range query. UTF-8 has no byte 255, so "\xff" is greater than
// every path.
func prefixEnd(prefix string) string {
	for n := len(prefix) - 1; n >= 0; n-- {
		if prefix[n] < 0xff {
			return prefix[:n] + string([]byte{prefix[n] + 1})
		}
	}
	return "\xff"
}

// holding returns the SQL condition for rows that are valid as of an event (0 means
// now), and its arguments appended to args. The condition for now uses a literal
// number, so that SQLite uses the partial indexes.
func holding(asOf uint64, args ...any) (string, []any) {
	if seq := asOfNow(asOf); seq < stillHolds-1 {
		n := "?" + itoa(len(args)+1)
		return "from_seq <= " + n + " AND to_seq > " + n, append(args, seq)
	}
	return holdsNow, args
}

const holdsNow = "to_seq = 9007199254740991"

// Conversations lists up to limit conversations that began before an event,
// newest first; before 0 means all.
func (t *Tables) Conversations(ctx context.Context, limit int, before uint64) ([]Conversation, error) {
	return list[Conversation](ctx, t, "SELECT value FROM conversations WHERE seq < ? ORDER BY seq DESC LIMIT ?", asOfNow(before), bounded(limit))
}

// Messages lists the messages of a conversation, in order.
func (t *Tables) Messages(ctx context.Context, conversation choir.ID) ([]Message, error) {
	return list[Message](ctx, t, "SELECT value FROM messages WHERE key = ? ORDER BY seq", conversation)
}

// Usage sums the usage of a run's model calls; an empty run means the computer.
func (t *Tables) Usage(ctx context.Context, run choir.ID) (Usage, error) {
	parts, err := list[Usage](ctx, t, "SELECT value FROM usage WHERE key = ?1 OR ?1 = '' ORDER BY key", run)
	var sum Usage
	for _, u := range parts {
		sum.add(u)
	}
	return sum, err
}
