// Package drafts stores what a person typed into an app and has not saved: the text of a file in Code,
// of a document in Writer, words in a form. Drafts are in a file beside the log, which keeps everything
// for ever: a draft is deleted once it is saved or discarded. They are unrelated to choir.Draft, an
// event that is not appended yet.
package drafts

import (
	"context"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// limits are the limits of one computer's drafts. A text beyond them is refused; no stored draft is
// dropped to make room.
type limits struct {
	text  int   // of one text, in bytes
	total int64 // of all texts, in bytes
	count int64
}

var defaults = limits{text: 8 << 20, total: 64 << 20, count: 1000}

// Draft is a typed text that is not saved. App and Subject identify it.
type Draft struct {
	App     string `json:"app" doc:"App it was typed into."`
	Subject string `json:"subject" doc:"What it is about: a path, document:<id>, or what else the app calls it."`
	// Revision grows with every change of any draft of the computer, so that a new draft never has the
	// revision of an earlier one.
	Revision int64      `json:"revision" doc:"Number of its last change."`
	Base     string     `json:"base,omitempty" doc:"What the text was made of, in the app's own words: the digest of a file, the version of a document."`
	Size     int64      `json:"size" doc:"Length of the text in bytes."`
	At       choir.Time `json:"at" doc:"When it was last changed."`
	Text     string     `json:"text,omitempty" doc:"The text; absent in a list."`
	// By is the page that changed it last. That page may change it again without knowing its revision.
	By string `json:"-"`
	// Turn is the number of the text among the texts of that page; 0 if the page does not count them.
	Turn int64 `json:"-"`
}

const fields = "revision, app, subject, base, size, at_ms, by_page"

// List returns all drafts without their texts, newest first.
func (s *Store) List(ctx context.Context) (list []Draft, err error) {
	err = s.use(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT "+fields+" FROM drafts ORDER BY revision DESC", func(row *sqlite.Stmt) { list = append(list, read(row)) })
	})
	return list, err
}

// Get returns a draft with its text. Code not_found: there is none.
func (s *Store) Get(ctx context.Context, app, subject string) (d Draft, err error) {
	err = s.use(ctx, func(conn *sqlite.Conn) error {
		found, err := find(conn, app, subject)
		if err != nil {
			return err
		}
		if found == nil {
			return choir.Refuse("drafts.get", choir.ReasonNothingUnsaved).At("subject")
		}
		d = *found
		return nil
	})
	return d, err
}

// Put stores the draft d durably if its current revision is made (0: there is none), or if the same page
// wrote the current one in an earlier turn. It returns the stored draft. An equal text changes nothing.
// Code conflict, with the current draft: it has another revision; too_large: over a limit.
func (s *Store) Put(ctx context.Context, d Draft, made int64) (now Draft, err error) {
	if len(d.Text) > s.limits.text {
		return now, choir.Refuse("drafts.put", choir.ReasonDraftTooLarge, choir.BytesOf("size", len(d.Text)), choir.BytesOf("most", s.limits.text))
	}
	if strings.Contains(d.By, turnMark) {
		return now, choir.RefuseField("by", choir.ReasonPageNameLine)
	}
	d.Size, d.At = int64(len(d.Text)), choir.TimeOf(s.now())
	err = s.use(ctx, func(conn *sqlite.Conn) (err error) {
		end, err := sqlitex.ImmediateTransaction(conn)
		if err != nil {
			return err
		}
		defer end(&err)
		there, err := find(conn, d.App, d.Subject)
		if err != nil {
			return err
		}
		if there != nil && there.Text == d.Text && there.Base == d.Base {
			now = *there
			return nil
		}
		own := there != nil && d.By != "" && there.By == d.By && (d.Turn == 0 || d.Turn > there.Turn)
		if err := mustBe(there, made); err != nil && !own {
			if there != nil {
				now = *there
			}
			return err
		}
		if err := s.hasRoom(conn, there, d.Size); err != nil {
			return err
		}
		d.Revision, err = replace(conn, &d)
		now = d
		fault.Point("drafts.commit")
		return err
	})
	return now, err
}

// Drop deletes a draft with the given revision and reports whether there was one. Code conflict, with the
// current draft: it has another revision.
func (s *Store) Drop(ctx context.Context, app, subject string, revision int64) (now Draft, dropped bool, err error) {
	err = s.use(ctx, func(conn *sqlite.Conn) (err error) {
		end, err := sqlitex.ImmediateTransaction(conn)
		if err != nil {
			return err
		}
		defer end(&err)
		there, err := find(conn, app, subject)
		if err != nil || there == nil {
			return err
		}
		if err := mustBe(there, revision); err != nil {
			now = *there
			return err
		}
		dropped = true
		fault.Point("drafts.commit")
		return sqlitex.Execute(conn, "DELETE FROM drafts WHERE revision = ?", &sqlitex.ExecOptions{Args: []any{revision}})
	})
	return now, dropped && err == nil, err
}

// mustBe returns an error with code conflict unless there has the given revision; nil has revision 0.
func mustBe(there *Draft, revision int64) error {
	var now int64
	if there != nil {
		now = there.Revision
	}
	if now == revision {
		return nil
	}
	return choir.Refuse("drafts.change", choir.ReasonDraftChanged, choir.CountOf("now", now), choir.CountOf("revision", revision))
}

// hasRoom returns an error with code too_large if a text of size bytes, in place of there, would exceed
// the computer's limits.
func (s *Store) hasRoom(conn *sqlite.Conn, there *Draft, size int64) error {
	var count, total int64
	err := query(conn, "SELECT count(*), coalesce(sum(size), 0) FROM drafts", func(row *sqlite.Stmt) { count, total = row.ColumnInt64(0), row.ColumnInt64(1) })
	if err != nil {
		return err
	}
	if there != nil {
		count, total = count-1, total-there.Size
	}
	if count >= s.limits.count || total+size > s.limits.total {
		return choir.Refuse("drafts.put", choir.ReasonDraftsFull, choir.CountOf("n", count), choir.BytesOf("size", total))
	}
	return nil
}

// replace writes a draft in place of the one with the same app and subject and returns the new revision.
func replace(conn *sqlite.Conn, d *Draft) (int64, error) {
	err := sqlitex.Execute(conn, "DELETE FROM drafts WHERE app = ? AND subject = ?", &sqlitex.ExecOptions{Args: []any{d.App, d.Subject}})
	if err != nil {
		return 0, err
	}
	err = sqlitex.Execute(conn, "INSERT INTO drafts (app, subject, base, size, at_ms, by_page, text) VALUES (?, ?, ?, ?, ?, ?, ?)", &sqlitex.ExecOptions{
		Args: []any{d.App, d.Subject, d.Base, d.Size, int64(d.At), pageOf(d), d.Text},
	})
	return conn.LastInsertRowID(), err
}

// find returns a draft with its text; nil if there is none.
func find(conn *sqlite.Conn, app, subject string) (found *Draft, err error) {
	err = query(conn, "SELECT "+fields+", text FROM drafts WHERE app = ? AND subject = ?", func(row *sqlite.Stmt) {
		d := read(row)
		d.Text = row.ColumnText(7)
		found = &d
	}, app, subject)
	return found, err
}

// read returns the draft in a row of the columns fields.
func read(row *sqlite.Stmt) Draft {
	d := Draft{
		Revision: row.ColumnInt64(0), App: row.ColumnText(1), Subject: row.ColumnText(2),
		Base: row.ColumnText(3), Size: row.ColumnInt64(4), At: choir.Time(row.ColumnInt64(5)), By: row.ColumnText(6),
	}
	if page, turn, counted := strings.Cut(d.By, turnMark); counted {
		if n, err := strconv.ParseInt(turn, 10, 64); err == nil {
			d.By, d.Turn = page, n
		}
	}
	return d
}

// turnMark separates page and turn in the column by_page. A page chooses its own name, so Put refuses a
// name that contains the mark.
const turnMark = "\n"

// pageOf returns the value of the column by_page: the draft's page and, if counted, its turn.
func pageOf(d *Draft) string {
	if d.Turn == 0 {
		return d.By
	}
	return d.By + turnMark + strconv.FormatInt(d.Turn, 10)
}

// query runs an SQL query and calls each for every row.
func query(conn *sqlite.Conn, text string, each func(*sqlite.Stmt), args ...any) error {
	return sqlitex.Execute(conn, text, &sqlitex.ExecOptions{Args: args, ResultFunc: func(row *sqlite.Stmt) error {
		each(row)
		return nil
	}})
}
