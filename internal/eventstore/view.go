package eventstore

import (
	"encoding/json"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// view is what reducers read and write: the rows they touched, over the rows
// that are in the database. It does no other I/O and is used by one goroutine.
type view struct {
	base base

	runs          keyed[Run]
	tasks         keyed[Task]
	conversations keyed[Conversation]
	checkpoints   keyed[Checkpoint]
	usage         keyed[Usage]
	documentHeads keyed[documentHead]
	files         versions
	documents     versions
	settings      versions
	windows       versions
	overlays      versions
	undos         versions

	pending map[*table][]row // rows to write that are never read again by key
	queued  int
}

// base gives what was written before.
type base interface {
	// value is a keyed row.
	value(t *table, key string) (string, bool, error)
	// open is the version that still holds.
	open(t *table, key string) (from uint64, value string, ok bool, err error)
	// document is a version of a document.
	document(key string, version int) (Document, error)
	// changed are the keys whose value after event seq is not the one now.
	changed(t *table, seq uint64) ([]change, error)
	// write makes rows readable by the methods above.
	write(map[*table][]row) error
}

// change is a key that a rewind has to put back; nil means absent.
type change struct {
	key  string
	then *string
}

func newView(b base) *view {
	v := &view{base: b, pending: map[*table][]row{}}
	v.runs = keyed[Run]{view: v, table: runsTable, index: func(x *Run) row {
		return row{seq: x.FirstSeq, state: string(x.State)}
	}}
	v.tasks = keyed[Task]{view: v, table: tasksTable, index: func(x *Task) row {
		return row{seq: x.DispatchedSeq, run: string(x.Run), state: string(x.State)}
	}}
	v.conversations = keyed[Conversation]{view: v, table: conversationsTable, index: func(x *Conversation) row { return row{seq: x.FirstSeq} }}
	v.checkpoints = keyed[Checkpoint]{view: v, table: checkpointsTable, index: func(x *Checkpoint) row { return row{seq: x.Seq} }}
	v.usage = keyed[Usage]{view: v, table: usageTable, index: func(*Usage) row { return row{} }}
	v.documentHeads = keyed[documentHead]{view: v, table: documentHeadsTable, index: func(*documentHead) row { return row{} }}
	v.files = versions{view: v, table: filesTable}
	v.documents = versions{view: v, table: documentsTable}
	v.settings = versions{view: v, table: settingsTable}
	v.windows = versions{view: v, table: windowsTable}
	v.overlays = versions{view: v, table: overlaysTable}
	v.undos = versions{view: v, table: undosTable}
	v.forget()
	return v
}

// forget drops what is remembered of the database.
func (v *view) forget() {
	v.runs.live, v.tasks.live = map[string]*cell[Run]{}, map[string]*cell[Task]{}
	v.conversations.live, v.checkpoints.live = map[string]*cell[Conversation]{}, map[string]*cell[Checkpoint]{}
	v.usage.live, v.documentHeads.live = map[string]*cell[Usage]{}, map[string]*cell[documentHead]{}
	v.files.live, v.documents.live = map[string]*version{}, map[string]*version{}
	v.settings.live, v.windows.live, v.overlays.live = map[string]*version{}, map[string]*version{}, map[string]*version{}
	v.undos.live = map[string]*version{}
	clear(v.pending)
	v.queued = 0
}

func (v *view) add(t *table, r row) {
	v.pending[t] = append(v.pending[t], r)
	v.queued++
}

// takePending hands the rows over that will not change any more.
func (v *view) takePending() map[*table][]row {
	out := v.pending
	v.pending, v.queued = make(map[*table][]row, len(out)), 0
	return out
}

// flush writes everything to the base. What is live stays remembered.
func (v *view) flush() error {
	for _, part := range []interface{ settle() error }{
		&v.runs, &v.tasks, &v.conversations, &v.checkpoints, &v.usage, &v.documentHeads, &v.files, &v.documents,
		&v.settings, &v.windows, &v.overlays, &v.undos,
	} {
		if err := part.settle(); err != nil {
			return err
		}
	}
	return v.base.write(v.takePending())
}

// size is how many rows are remembered.
func (v *view) size() int {
	return len(v.runs.live) + len(v.tasks.live) + len(v.conversations.live) + len(v.checkpoints.live) +
		len(v.usage.live) + len(v.documentHeads.live) + len(v.files.live) + len(v.documents.live) +
		len(v.settings.live) + len(v.windows.live) + len(v.overlays.live) + len(v.undos.live)
}

// keyed is a projection with one row per key.
type keyed[V any] struct {
	view  *view
	table *table
	index func(*V) row
	live  map[string]*cell[V]
}

type cell[V any] struct {
	value  V
	exists bool
	dirty  bool
}

// get gives the row, or ok false. Changes are kept only by put.
func (k *keyed[V]) get(key choir.ID) (v V, ok bool, err error) {
	c := k.live[string(key)]
	if c == nil {
		c = &cell[V]{}
		raw, ok, err := k.view.base.value(k.table, string(key))
		if err != nil {
			return v, false, err
		}
		if ok {
			c.exists = true
			if err := json.Unmarshal([]byte(raw), &c.value); err != nil {
				return v, false, damagedRow(k.table, string(key), err)
			}
		}
		k.live[string(key)] = c
	}
	return c.value, c.exists, nil
}

func (k *keyed[V]) put(key choir.ID, v V) { k.live[string(key)] = &cell[V]{v, true, true} }

func (k *keyed[V]) settle() error {
	for key, c := range k.live {
		if !c.dirty {
			continue
		}
		raw, err := json.Marshal(&c.value)
		if err != nil {
			return damagedRow(k.table, key, err)
		}
		r := k.index(&c.value)
		r.key, r.value = key, string(raw)
		k.view.add(k.table, r)
		c.dirty = false
	}
	return nil
}

// versions is a projection that can be rewound.
type versions struct {
	view  *view
	table *table
	live  map[string]*version
}

// version is the one that still holds; one that does not exist is remembered too.
type version struct {
	from   uint64
	value  string
	exists bool
	dirty  bool
}

func (s *versions) get(key string) (*version, error) {
	if c := s.live[key]; c != nil {
		return c, nil
	}
	from, value, ok, err := s.view.base.open(s.table, key)
	if err != nil {
		return nil, err
	}
	c := &version{from: from, value: value, exists: ok}
	s.live[key] = c
	return c, nil
}

// set makes a value hold from an event on.
func (s *versions) set(key string, seq uint64, value string) error {
	c, err := s.get(key)
	if err != nil || c.exists && c.value == value {
		return err
	}
	if c.exists && c.from < seq {
		s.view.add(s.table, row{key: key, seq: c.from, to: seq, value: c.value})
	}
	*c = version{from: seq, value: value, exists: true, dirty: true}
	return nil
}

// end makes the key absent from an event on.
func (s *versions) end(key string, seq uint64) error {
	c, err := s.get(key)
	if err != nil || !c.exists {
		return err
	}
	s.view.add(s.table, row{key: key, seq: c.from, to: seq, value: c.value})
	*c = version{}
	return nil
}

func (s *versions) settle() error {
	for key, c := range s.live {
		if c.dirty {
			s.view.add(s.table, row{key: key, seq: c.from, to: stillHolds, value: c.value})
			c.dirty = false
		}
	}
	return nil
}

func damagedRow(t *table, key string, err error) error {
	return choir.Wrap("eventstore.reduce", choir.CodeCorrupt, err, "row %s of table %s is damaged", key, t.name)
}

// sqliteBase is the database itself, inside the transaction of its connection.
type sqliteBase struct{ conn *sqlite.Conn }

func (b sqliteBase) write(rows map[*table][]row) error {
	for _, t := range projections {
		if err := t.write(b.conn, rows[t]); err != nil {
			return err
		}
	}
	return nil
}

func (b sqliteBase) value(t *table, key string) (value string, ok bool, err error) {
	err = query(b.conn, "SELECT value FROM "+t.name+" WHERE key = ?", func(st *sqlite.Stmt) error {
		value, ok = st.ColumnText(0), true
		return nil
	}, key)
	return value, ok, err
}

func (b sqliteBase) open(t *table, key string) (from uint64, value string, ok bool, err error) {
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

func (b sqliteBase) changed(t *table, seq uint64) ([]change, error) {
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
