// Package drafts keeps what a person typed into an app and has not saved: the
// text of a file in Code, of a document in Writer, words in a form. Drafts lie
// beside the log, which forgets nothing: a draft is gone once it was saved or
// discarded. They have nothing to do with choir.Draft, an event before it is
// appended.
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

// limits bound what is kept for one computer. What is over them is refused:
// nothing that was typed is dropped to make room.
type limits struct {
	text  int   // of one text, in bytes
	total int64 // of all texts, in bytes
	count int64
}

var defaults = limits{text: 8 << 20, total: 64 << 20, count: 1000}

// Draft is a text that was typed and not saved, by app and subject.
type Draft struct {
	App     string `json:"app" doc:"App it was typed into."`
	Subject string `json:"subject" doc:"What it is about: a path, document:<id>, or what else the app calls it."`
	// Revision grows with every change of any draft of the computer, so that one
	// that is begun anew never has the number of an earlier one.
	Revision int64      `json:"revision" doc:"Number of its last change."`
	Base     string     `json:"base,omitempty" doc:"What the text was made of, in the app's own words: the digest of a file, the version of a document."`
	Size     int64      `json:"size" doc:"Length of the text in bytes."`
	At       choir.Time `json:"at" doc:"When it was last changed."`
	Text     string     `json:"text,omitempty" doc:"The text; absent in a list."`
	// By names the page that changed it last, which may change it again unseen.
	By string `json:"-"`
	// Turn grows with every text of that page; 0 when it does not count them.
	Turn int64 `json:"-"`
}

const fields = "revision, app, subject, base, size, at_ms, by_page"

// List gives all drafts without their texts, the newest first.
func (s *Store) List(ctx context.Context) (list []Draft, err error) {
	err = s.use(ctx, func(conn *sqlite.Conn) error {
		return query(conn, "SELECT "+fields+" FROM drafts ORDER BY revision DESC", func(row *sqlite.Stmt) { list = append(list, read(row)) })
	})
	return list, err
}

// Get gives one draft with its text. Code not_found when there is none.
func (s *Store) Get(ctx context.Context, app, subject string) (d Draft, err error) {
	err = s.use(ctx, func(conn *sqlite.Conn) error {
		found, err := find(conn, app, subject)
		if err != nil {
			return err
		}
		if found == nil {
			return &choir.Error{Op: "drafts.get", Code: choir.CodeNotFound, Path: "subject", Msg: "of this nothing is unsaved"}
		}
		d = *found
		return nil
	})
	return d, err
}

// Put keeps a text that was made of the draft with the revision made, 0 where
// there was none. It is durable when Put returns. Code conflict, with the draft that
// is there or the zero Draft, when that has another revision, unless the same page
// wrote it in an earlier turn; code too_large when it is over a limit. A text that is
// kept already changes nothing.
func (s *Store) Put(ctx context.Context, d Draft, made int64) (now Draft, err error) {
	if len(d.Text) > s.limits.text {
		return now, choir.E("drafts.put", choir.CodeTooLarge, "a text of %d bytes is not kept unsaved; at most %d are", len(d.Text), s.limits.text).WithRemedy("save it")
	}
	if strings.Contains(d.By, turnMark) {
		return now, choir.Invalid("by", "a page's name is one line")
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

// Drop removes a draft that was saved or discarded. Code conflict when it is not
// at the revision any more, with the draft that is there. It is no error that
// there is none.
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

// mustBe refuses a change of another revision than the one that is there.
func mustBe(there *Draft, revision int64) error {
	var now int64
	if there != nil {
		now = there.Revision
	}
	if now == revision {
		return nil
	}
	return choir.E("drafts.change", choir.CodeConflict, "the draft was changed meanwhile: it is at revision %d, not %d", now, revision)
}

// hasRoom refuses a text for which the computer's drafts have no room.
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
		return choir.E("drafts.put", choir.CodeTooLarge, "%d texts with %d bytes are unsaved already", count, total).WithRemedy("save or discard some of them first")
	}
	return nil
}

// replace writes a draft in the place of the one of its app and subject. It
// gives the new revision.
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

// find gives a draft with its text; nil when there is none.
func find(conn *sqlite.Conn, app, subject string) (found *Draft, err error) {
	err = query(conn, "SELECT "+fields+", text FROM drafts WHERE app = ? AND subject = ?", func(row *sqlite.Stmt) {
		d := read(row)
		d.Text = row.ColumnText(7)
		found = &d
	}, app, subject)
	return found, err
}

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

// turnMark stands between a page and its turn in the column by_page. A page's name is
// one that it gives itself, so that Put refuses one with the mark.
const turnMark = "\n"

func pageOf(d *Draft) string {
	if d.Turn == 0 {
		return d.By
	}
	return d.By + turnMark + strconv.FormatInt(d.Turn, 10)
}

func query(conn *sqlite.Conn, text string, each func(*sqlite.Stmt), args ...any) error {
	return sqlitex.Execute(conn, text, &sqlitex.ExecOptions{Args: args, ResultFunc: func(row *sqlite.Stmt) error {
		each(row)
		return nil
	}})
}
