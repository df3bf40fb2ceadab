package eventstore

import (
	"fmt"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// view is the reducers' access to rows: it caches the rows they touch on top of a base.
// It must not be used by two goroutines at once.
type view struct {
	base  base
	watch watch
	parts map[*projection]part
	order []part // the parts in the order of projections
	bound map[choir.Type][]binding

	pending map[*projection][]row // rows to write that are never read again by key
	queued  int
}

// part caches the rows of one projection for a view.
type part interface {
	// queueChanged hands the rows that changed to the view, which writes them.
	queueChanged() error
	// forget drops what is remembered of the database.
	forget()
	// size is how many rows are remembered.
	size() int
}

// binding is a reducer with the rows that it changes.
type binding struct {
	name   string // of the projection
	rows   part
	reduce reducer
}

// ProjectionFailure reports an event on which a projection's reducer panicked. The
// projection continues with the next event.
type ProjectionFailure struct {
	Projection string
	Seq        uint64
	Reason     string
}

// watch has the callbacks of a view.
type watch struct {
	failed func(ProjectionFailure)
	before func(projection string, e *choir.Event) // for tests
}

// base reads rows that were written earlier, and writes new ones.
type base interface {
	// value is a keyed row.
	value(t *projection, key string) (string, bool, error)
	// open is the version that still holds.
	open(t *projection, key string) (from uint64, value string, ok bool, err error)
	// document is a version of a document.
	document(key string, version int) (Document, error)
	// changed are the keys whose value after event seq is not the one now.
	changed(t *projection, seq uint64) ([]change, error)
	// write makes rows readable by the methods above.
	write(map[*projection][]row) error
}

// change is a key whose value a rewind restores; a nil value means absent.
type change struct {
	key  string
	then *string
}

func newView(b base, w watch) *view {
	v := &view{base: b, watch: w, parts: make(map[*projection]part, len(projections)), pending: map[*projection][]row{}}
	for _, t := range projections {
		p := t.in(v)
		v.parts[t.projected()] = p
		v.order = append(v.order, p)
	}
	v.bound = make(map[choir.Type][]binding, len(reduced))
	for eventType, tables := range reduced {
		for _, t := range tables {
			v.bound[eventType] = append(v.bound[eventType], binding{t.name, v.parts[t], t.on[eventType]})
		}
	}
	return v
}

// reduce applies an event to all projections. It decodes the payload if p is nil.
func (v *view) reduce(e *choir.Event, p choir.Payload) error {
	bound := v.bound[e.Type]
	if len(bound) == 0 {
		return nil
	}
	if p == nil {
		var err error
		if p, err = choir.ReadPayload(e.Type, e.Payload); err != nil {
			return choir.Wrap("eventstore.reduce", choir.CodeCorrupt, err, "event %d", e.Seq)
		}
	}
	if e.Type == choir.TypeTimelineRewound {
		if err := v.flush(); err != nil { // restoreVersions asks the database what holds
			return err
		}
	}
	for i := range bound {
		if err := v.reduceIn(&bound[i], e, p); err != nil {
			return err
		}
	}
	return nil
}

// reduceIn applies an event to one projection. It recovers from a panic of the reducer;
// changes made before the panic stay, in every rebuild alike.
func (v *view) reduceIn(b *binding, e *choir.Event, p choir.Payload) (err error) {
	defer func() {
		if reason := recover(); reason != nil && v.watch.failed != nil {
			v.watch.failed(ProjectionFailure{b.name, e.Seq, fmt.Sprint(reason)})
		}
	}()
	if v.watch.before != nil {
		v.watch.before(b.name, e)
	}
	return b.reduce(b.rows, e, p)
}

// forget drops cached rows and changes that are not written yet.
func (v *view) forget() {
	for _, p := range v.order {
		p.forget()
	}
	clear(v.pending)
	v.queued = 0
}

func (v *view) add(t *projection, r row) {
	v.pending[t] = append(v.pending[t], r)
	v.queued++
}

// takePending returns the rows to write and clears the list.
func (v *view) takePending() map[*projection][]row {
	out := v.pending
	v.pending, v.queued = make(map[*projection][]row, len(out)), 0
	return out
}

// flush writes all changed rows to the base. The cache is kept.
func (v *view) flush() error {
	for _, p := range v.order {
		if err := p.queueChanged(); err != nil {
			return err
		}
	}
	return v.base.write(v.takePending())
}

// size returns the number of cached rows.
func (v *view) size() (n int) {
	for _, p := range v.order {
		n += p.size()
	}
	return n
}

func damagedRow(t *projection, key string, err error) error {
	return choir.Wrap("eventstore.reduce", choir.CodeCorrupt, err, "row %s of table %s is damaged", key, t.name)
}

// sqliteBase is the base in a database, within the transaction of its connection.
type sqliteBase struct{ conn *sqlite.Conn }

func (b sqliteBase) write(rows map[*projection][]row) error {
	for _, t := range projections {
		p := t.projected()
		if err := p.write(b.conn, rows[p]); err != nil {
			return err
		}
	}
	return nil
}

func (b sqliteBase) value(t *projection, key string) (value string, ok bool, err error) {
	err = query(b.conn, "SELECT value FROM "+t.name+" WHERE key = ?", func(st *sqlite.Stmt) error {
		value, ok = st.ColumnText(0), true
		return nil
	}, key)
	return value, ok, err
}

func (b sqliteBase) open(t *projection, key string) (from uint64, value string, ok bool, err error) {
	err = query(b.conn, "SELECT from_seq, to_seq, value FROM "+t.name+" WHERE key = ? ORDER BY from_seq DESC LIMIT 1", func(st *sqlite.Stmt) error {
		if st.ColumnInt64(1) == stillHolds {
			from, value, ok = uint64(st.ColumnInt64(0)), st.ColumnText(2), true
		}
		return nil
	}, key)
	return from, value, ok, err
}

func (b sqliteBase) document(key string, version int) (Document, error) {
	var doc Document
	err := query(b.conn, "SELECT value FROM document_versions WHERE key = ? AND version = ?", into(&doc), key, version)
	return doc, err
}

func (b sqliteBase) changed(t *projection, seq uint64) ([]change, error) {
	var out []change
	err := query(b.conn, `SELECT key, max(CASE WHEN from_seq <= ?1 AND to_seq > ?1 THEN value END) AS past,
		max(CASE WHEN to_seq = 9007199254740991 THEN value END) AS present
		FROM `+t.name+` WHERE from_seq <= ?1 AND to_seq > ?1 OR to_seq = 9007199254740991
		GROUP BY key HAVING past IS NOT present ORDER BY key`, func(st *sqlite.Stmt) error {
		c := change{key: st.ColumnText(0)}
		if !st.ColumnIsNull(1) {
			then := st.ColumnText(1)
			c.then = &then
		}
		out = append(out, c)
		return nil
	}, seq)
	return out, err
}
