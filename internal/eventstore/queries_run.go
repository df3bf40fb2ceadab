package eventstore

import (
	"context"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

const runQuery = `SELECT value, (SELECT max(seq) FROM events WHERE events.run = runs.key),
	(SELECT value FROM usage WHERE usage.key = runs.key),
	(SELECT value FROM undos WHERE undos.key = runs.key AND to_seq = 9007199254740991) FROM runs `

func (t *Tables) runs(ctx context.Context, where string, args ...any) ([]Run, error) {
	var out []Run
	err := t.read(ctx, func(conn *sqlite.Conn) error {
		return query(conn, runQuery+where, func(st *sqlite.Stmt) error {
			if err := onto(&out)(st); err != nil {
				return err
			}
			run := &out[len(out)-1]
			run.LastSeq = uint64(st.ColumnInt64(1))
			if !st.ColumnIsNull(3) {
				if err := decodeText(st.ColumnText(3), &run.Undone); err != nil {
					return err
				}
			}
			if st.ColumnIsNull(2) {
				return nil
			}
			return decodeText(st.ColumnText(2), &run.Usage)
		}, args...)
	})
	return out, err
}

// Runs lists up to limit runs that began before an event, newest first; before 0
// means all.
func (t *Tables) Runs(ctx context.Context, limit int, before uint64) ([]Run, error) {
	return t.runs(ctx, "WHERE seq < ? ORDER BY seq DESC LIMIT ?", asOfNow(before), bounded(limit))
}

// OpenRuns lists the runs that have not ended, oldest first.
func (t *Tables) OpenRuns(ctx context.Context) ([]Run, error) {
	return t.runs(ctx, "WHERE state IN ('planning', 'running', 'waiting') ORDER BY seq")
}

// Run returns a run; code not_found.
func (t *Tables) Run(ctx context.Context, id choir.ID) (Run, error) {
	return find(ctx, "run", string(id), func(ctx context.Context) ([]Run, error) { return t.runs(ctx, "WHERE key = ?", id) })
}
