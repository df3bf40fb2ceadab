package eventstore

import (
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"
)

// stillHolds is the to_seq of a version that no later event has ended.
const stillHolds = 1<<53 - 1

// row is one row of any projection; a table uses some of the fields.
type row struct {
	key   string
	seq   uint64 // or version, or from_seq
	to    uint64
	run   string
	state string
	value string
}

// table says how rows of a projection are written.
type table struct {
	name   string
	insert string
	bind   func(*sqlite.Stmt, *row)
}

func keyValue(st *sqlite.Stmt, r *row) { st.BindText(1, r.key); st.BindText(2, r.value) }

func keySeqValue(st *sqlite.Stmt, r *row) {
	st.BindText(1, r.key)
	st.BindInt64(2, int64(r.seq))
	st.BindText(3, r.value)
}

func versionRow(st *sqlite.Stmt, r *row) {
	st.BindText(1, r.key)
	st.BindInt64(2, int64(r.seq))
	st.BindInt64(3, int64(r.to))
	st.BindText(4, r.value)
}

// The projections.
var (
	runsTable = &table{"runs", "REPLACE INTO runs VALUES (?, ?, ?, ?)", func(st *sqlite.Stmt, r *row) {
		st.BindText(1, r.key)
		st.BindInt64(2, int64(r.seq))
		st.BindText(3, r.state)
		st.BindText(4, r.value)
	}}
	tasksTable = &table{"tasks", "REPLACE INTO tasks VALUES (?, ?, ?, ?, ?)", func(st *sqlite.Stmt, r *row) {
		st.BindText(1, r.key)
		st.BindInt64(2, int64(r.seq))
		st.BindText(3, r.run)
		st.BindText(4, r.state)
		st.BindText(5, r.value)
	}}
	snapshotsTable = &table{"snapshots", "REPLACE INTO snapshots VALUES (?, ?)", func(st *sqlite.Stmt, r *row) {
		st.BindInt64(1, int64(r.seq))
		st.BindText(2, r.value)
	}}
	conversationsTable    = &table{"conversations", "REPLACE INTO conversations VALUES (?, ?, ?)", keySeqValue}
	messagesTable         = &table{"messages", "REPLACE INTO messages VALUES (?, ?, ?)", keySeqValue}
	checkpointsTable      = &table{"checkpoints", "REPLACE INTO checkpoints VALUES (?, ?, ?)", keySeqValue}
	usageTable            = &table{"usage", "REPLACE INTO usage VALUES (?, ?)", keyValue}
	documentHeadsTable    = &table{"document_heads", "REPLACE INTO document_heads VALUES (?, ?)", keyValue}
	documentVersionsTable = &table{"document_versions", "REPLACE INTO document_versions VALUES (?, ?, ?)", keySeqValue}
	firstsTable           = &table{"firsts", "INSERT OR IGNORE INTO firsts VALUES (?, ?)", func(st *sqlite.Stmt, r *row) {
		st.BindText(1, r.key)
		st.BindInt64(2, int64(r.seq))
	}}
	filesTable     = &table{"files", "REPLACE INTO files VALUES (?, ?, ?, ?)", versionRow}
	documentsTable = &table{"documents", "REPLACE INTO documents VALUES (?, ?, ?, ?)", versionRow}
	settingsTable  = &table{"settings", "REPLACE INTO settings VALUES (?, ?, ?, ?)", versionRow}
	overlaysTable  = &table{"overlays", "REPLACE INTO overlays VALUES (?, ?, ?, ?)", versionRow}
	undosTable     = &table{"undos", "REPLACE INTO undos VALUES (?, ?, ?, ?)", versionRow}
	windowsTable   = &table{"windows", "REPLACE INTO windows VALUES (?, ?, ?, ?)", versionRow}
)

var projections = []*table{
	checkpointsTable, conversationsTable, documentHeadsTable, documentVersionsTable, documentsTable, filesTable, firstsTable,
	messagesTable, overlaysTable, runsTable, settingsTable, snapshotsTable, tasksTable, undosTable, usageTable, windowsTable,
}

func (t *table) write(conn *sqlite.Conn, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	st, err := conn.Prepare(t.insert)
	if err != nil {
		return err
	}
	// In the order of their keys rows that are neighbours come one after the
	// other; what has the same key keeps its order.
	slices.SortStableFunc(rows, func(a, b row) int { return strings.Compare(a.key, b.key) })
	for i := range rows {
		t.bind(st, &rows[i])
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
