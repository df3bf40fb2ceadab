package eventstore

import (
	"encoding/json"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// projection defines a table of the SQLite copy that is computed from the events alone:
// its columns and indexes, and the reducers that change its rows. The list projections
// has all of them; the schema of a new copy, rebuilds, verification and the dump use
// that list.
type projection struct {
	name    string
	since   int      // version of the schema that first had the table as it is here
	columns []column // those of the primary key first
	key     int      // how many columns the primary key has
	indexes []string // each as it follows CREATE INDEX
	on      reducers
	// keepsFirst leaves the row of a key as it is; without it the newest replaces it.
	keepsFirst bool
}

// reducer applies one event to the rows of one projection. It is pure: the same
// events over the same rows always give the same rows.
type reducer func(rows part, e *choir.Event, p choir.Payload) error

type reducers map[choir.Type]reducer

// on converts a function on one kind of rows and one payload type to a reducer.
func on[R part, P any](f func(R, *choir.Event, *P) error) reducer {
	return func(rows part, e *choir.Event, p choir.Payload) error { return f(rows.(R), e, any(p).(*P)) }
}

// table is a projection of any kind: keyed, versioned or listed.
type table interface {
	projected() *projection
	// in makes what a view remembers of the projection.
	in(v *view) part
}

func (p *projection) projected() *projection { return p }

// projections lists all projections. Each event is applied to them in this order: a
// reducer sees the event's changes in earlier projections, and the state before the
// event in later ones.
var projections = []table{
	runsTable, conversationsTable, messagesTable, tasksTable, usageTable, checkpointsTable, snapshotsTable,
	documentsTable, documentHeadsTable, documentVersionsTable, overlaysTable, filesTable, settingsTable, windowsTable, undosTable,
	firstsTable, marksTable, markTrailTable, egressTable, egressHostsTable,
}

// reduced maps each event type to the projections that have a reducer for it.
var reduced = byType(projections)

func byType(tables []table) map[choir.Type][]*projection {
	out := map[choir.Type][]*projection{}
	for _, t := range tables {
		p := t.projected()
		for eventType := range p.on {
			out[eventType] = append(out[eventType], p)
		}
	}
	return out
}

// row is one row of any projection, which uses some of its fields.
type row struct {
	key   string
	seq   uint64 // or version, or from_seq
	to    uint64
	run   string
	state string
	value string
}

// column is a column of a projection, bound from one field of a row.
type column struct {
	name, kind string
	bind       func(st *sqlite.Stmt, at int, r *row)
}

var (
	keyColumn     = column{"key", "TEXT", func(st *sqlite.Stmt, at int, r *row) { st.BindText(at, r.key) }}
	seqColumn     = numberColumn("seq")
	versionColumn = numberColumn("version")
	fromColumn    = numberColumn("from_seq")
	toColumn      = column{"to_seq", "INTEGER", func(st *sqlite.Stmt, at int, r *row) { st.BindInt64(at, int64(r.to)) }}
	runColumn     = column{"run", "TEXT", func(st *sqlite.Stmt, at int, r *row) { st.BindText(at, r.run) }}
	stateColumn   = column{"state", "TEXT", func(st *sqlite.Stmt, at int, r *row) { st.BindText(at, r.state) }}
	valueColumn   = column{"value", "TEXT", func(st *sqlite.Stmt, at int, r *row) { st.BindText(at, r.value) }}
)

func numberColumn(name string) column {
	return column{name, "INTEGER", func(st *sqlite.Stmt, at int, r *row) { st.BindInt64(at, int64(r.seq)) }}
}

// create returns the SQL that creates the table and its indexes.
func (p *projection) create() string {
	var b strings.Builder
	b.WriteString("CREATE TABLE " + p.name + " (")
	for i, c := range p.columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(c.name + " " + c.kind)
		if i == 0 && p.key == 1 {
			b.WriteString(" PRIMARY KEY")
		} else {
			b.WriteString(" NOT NULL")
		}
	}
	if p.key > 1 {
		b.WriteString(", PRIMARY KEY (" + columnNames(p.columns[:p.key]) + ")")
	}
	b.WriteString(")")
	if p.key > 1 || p.columns[0].kind == "TEXT" {
		b.WriteString(" WITHOUT ROWID") // an integer that is the whole key is the row's number
	}
	b.WriteString(";\n")
	for _, index := range p.indexes {
		b.WriteString("CREATE INDEX " + index + ";\n")
	}
	return b.String()
}

func columnNames(columns []column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

func (p *projection) insert() string {
	verb := "REPLACE"
	if p.keepsFirst {
		verb = "INSERT OR IGNORE"
	}
	return verb + " INTO " + p.name + " VALUES (?" + strings.Repeat(", ?", len(p.columns)-1) + ")"
}

// write inserts rows.
func (p *projection) write(conn *sqlite.Conn, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	st, err := conn.Prepare(p.insert())
	if err != nil {
		return err
	}
	// In the order of their keys rows that are neighbours come one after the
	// other; what has the same key keeps its order.
	slices.SortStableFunc(rows, func(a, b row) int { return strings.Compare(a.key, b.key) })
	for i := range rows {
		for at := range p.columns {
			p.columns[at].bind(st, at+1, &rows[i])
		}
		if _, err := st.Step(); err != nil {
			st.Reset() // the step's error is the one to tell
			return err
		}
		if err := st.Reset(); err != nil {
			return err
		}
	}
	return nil
}

func encode(v any) (string, error) {
	raw, err := json.Marshal(v)
	return string(raw), err
}
