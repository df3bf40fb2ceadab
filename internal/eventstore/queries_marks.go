package eventstore

import (
	"cmp"
	"context"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

const markColumns = `SELECT m.value, e.event,
	(SELECT c.event FROM events c WHERE c.seq = json_extract(m.value, '$.call')),
	(SELECT json_extract(t.value, '$.instruction') FROM tasks t WHERE t.key = json_extract(m.value, '$.task')),
	(SELECT json_extract(d.value, '$.title') FROM documents d WHERE d.key = json_extract(m.value, '$.document') AND d.to_seq = 9007199254740991) `

// The streak that may go on is newer than every row.
const (
	openMark = markColumns + `FROM (SELECT json_extract(value, '$.streak.seq') AS seq, json_extract(value, '$.streak') AS value FROM mark_trail) m
	CROSS JOIN events e ON e.seq = m.seq WHERE m.seq < ?1 LIMIT ?2`
	closedMarks = markColumns + `FROM marks m CROSS JOIN events e ON e.seq = m.seq WHERE m.seq < ?1 ORDER BY m.seq DESC LIMIT ?2`
)

// Marks lists up to limit marks of the timeline before an event, newest first; before 0
// means all. It leaves out a mark whose event is damaged in both copies of the log.
func (s *Store) Marks(ctx context.Context, limit int, before uint64) ([]Mark, error) {
	if limit <= 0 {
		return nil, nil
	}
	var out []Mark
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		for _, sql := range []string{openMark, closedMarks} {
			err := query(conn, sql, func(st *sqlite.Stmt) error { return readMark(st, &out) }, asOfNow(before), bounded(limit)-len(out))
			if err != nil {
				return err
			}
		}
		for i := range out {
			if err := nameWindows(conn, &out[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.mendMarks(ctx, out)
}

// readMark decodes a row of markColumns and appends it to out. mendMarks later replaces
// events that cannot be decoded.
func readMark(st *sqlite.Stmt, out *[]Mark) error {
	if err := onto(out)(st); err != nil {
		return err
	}
	m := &(*out)[len(*out)-1]
	m.Event = decodedOrNone(st.ColumnText(1))
	if !st.ColumnIsNull(2) {
		called := decodedOrNone(st.ColumnText(2))
		m.Called = &called
	}
	m.Instruction = st.ColumnText(3)
	if !st.ColumnIsNull(4) {
		title := st.ColumnText(4)
		m.Title = &title
	}
	return nil
}

func decodedOrNone(raw string) choir.Event {
	e, err := choir.DecodeEvent([]byte(raw))
	if err != nil {
		return choir.Event{}
	}
	return e
}

// nameWindows sets the missing window names of a mark to the names that the windows had
// before it.
func nameWindows(conn *sqlite.Conn, m *Mark) error {
	for i := range m.Windows {
		w := &m.Windows[i]
		if w.Name != "" {
			continue
		}
		err := query(conn, "SELECT value, to_seq FROM windows WHERE key = ?1 AND from_seq < ?2 ORDER BY from_seq DESC LIMIT 1", func(st *sqlite.Stmt) error {
			var win Window
			if uint64(st.ColumnInt64(1)) < m.First {
				return nil // it was gone by then
			}
			if err := into(&win)(st); err != nil {
				return err
			}
			w.Name = cmp.Or(win.Title, win.App)
			return nil
		}, w.ID, m.First)
		if err != nil {
			return err
		}
	}
	return nil
}

// mendMarks reads from the journal the events that are damaged in the SQLite copy.
func (s *Store) mendMarks(ctx context.Context, marks []Mark) ([]Mark, error) {
	out := marks[:0]
	for _, m := range marks {
		var err error
		if m.Event.Seq != m.Seq {
			m.Event, err = s.At(ctx, m.Seq)
		}
		if err == nil && m.Called != nil && m.Called.Seq != m.Call {
			*m.Called, err = s.At(ctx, m.Call)
		}
		if err != nil && choir.CodeOf(err) != choir.CodeCorrupt {
			return nil, err
		}
		if err == nil {
			out = append(out, m)
		}
	}
	return out, nil
}
