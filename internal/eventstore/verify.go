package eventstore

import (
	"context"
	"io"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/journal"
)

// Verify compares both copies byte by byte, checks every hash and the chain, and
// has SQLite check its file. What is damaged in one copy is restored from the
// other; what is damaged in both is a hole. Appends and reads go on meanwhile.
// progress, when given, gets the number of events compared so far and in all.
func (s *Store) Verify(ctx context.Context, progress func(done, total uint64)) (Report, error) {
	head, hash := s.journal.Head()
	report := Report{Events: head, Head: hash}
	var damage []journal.Damage
	var wrong []item
	err := s.read(ctx, func(conn *sqlite.Conn) (err error) {
		// What is only in the journal yet is not wrong in the copy.
		damage, wrong, err = s.compare(ctx, conn, min(head, s.applier.reached()), progress)
		return err
	})
	if choir.CodeOf(err) == choir.CodeCorrupt {
		wrong, err = nil, nil
		damage, err = s.journal.Verify(ctx, nil)
		report.Repaired = append(report.Repaired, choir.LogRepaired{Copy: "sqlite", From: 1, To: max(1, head), Damage: "the file is damaged"})
	}
	if err != nil {
		return report, err
	}
	if len(damage) > 0 {
		repaired, holes, err := s.mendJournal(damage)
		if err != nil {
			return report, err
		}
		report.Repaired, report.Holes = append(report.Repaired, repaired...), holes
	}
	return report, s.mendSQLite(ctx, wrong, &report)
}

// compare walks both copies side by side, up to an event.
func (s *Store) compare(ctx context.Context, conn *sqlite.Conn, head uint64, progress func(done, total uint64)) (damage []journal.Damage, wrong []item, err error) {
	if err := checkFile(conn); err != nil {
		return nil, nil, err
	}
	st, err := conn.Prepare("SELECT seq, event, id, type, run FROM events ORDER BY seq")
	if err != nil {
		return nil, nil, err
	}
	defer st.Reset() // an error of the last step has been told
	more, err := st.Step()
	if err != nil {
		return nil, nil, err
	}
	damage, err = s.journal.Verify(ctx, func(r journal.Record) error {
		if r.Seq > head {
			return nil
		}
		for more && uint64(st.ColumnInt64(0)) < r.Seq {
			if more, err = st.Step(); err != nil {
				return err
			}
		}
		if !more || !sameRow(st, r) {
			e, err := choir.DecodeEvent(r.Event)
			if err != nil {
				return err
			}
			wrong = append(wrong, item{event: e, raw: append([]byte(nil), r.Event...)})
		}
		if progress != nil && (r.Seq%1024 == 0 || r.Seq == head) {
			progress(r.Seq, head)
		}
		return nil
	})
	return damage, wrong, err
}

// sameRow holds a row of the SQLite copy against the journal's record. Columns
// beside the event are part of it and need no look of their own beyond that.
func sameRow(st *sqlite.Stmt, r journal.Record) bool {
	if uint64(st.ColumnInt64(0)) != r.Seq || st.ColumnText(1) != string(r.Event) {
		return false
	}
	e, err := choir.DecodeEvent(r.Event)
	return err == nil && st.ColumnText(2) == string(e.ID) && st.ColumnText(3) == string(e.Type) && st.ColumnText(4) == string(e.Run)
}

func checkFile(conn *sqlite.Conn) error {
	var found string
	err := query(conn, "PRAGMA quick_check(1)", func(st *sqlite.Stmt) error {
		found = st.ColumnText(0)
		return nil
	})
	if err == nil && found != "ok" {
		err = choir.E("eventstore.verify", choir.CodeCorrupt, "the SQLite copy is damaged: %s", found)
	}
	return err
}

// mendSQLite puts the journal's events into the place of wrong rows. A damaged
// file is made anew.
func (s *Store) mendSQLite(ctx context.Context, wrong []item, report *Report) error {
	if len(report.Repaired) > 0 && report.Repaired[0].Copy == "sqlite" {
		return s.remakeSQLite(ctx)
	}
	if len(wrong) == 0 {
		return nil
	}
	if err := s.applier.replaceEvents(wrong); err != nil {
		return err
	}
	for i, from := 0, 0; i < len(wrong); i++ {
		if i+1 < len(wrong) && wrong[i+1].event.Seq == wrong[i].event.Seq+1 {
			continue
		}
		report.Repaired = append(report.Repaired, choir.LogRepaired{
			Copy: "sqlite", From: wrong[from].event.Seq, To: wrong[i].event.Seq, Damage: "rows differ from the journal",
		})
		from = i + 1
	}
	return nil
}

// VerifyProjections rebuilds the projections and reports whether they had been
// what the log says. Afterwards they are.
func (s *Store) VerifyProjections(ctx context.Context) (same bool, err error) {
	before, err := s.Dump(ctx, io.Discard)
	if err != nil {
		return false, err
	}
	if err := s.Rebuild(ctx); err != nil {
		return false, err
	}
	after, err := s.Dump(ctx, io.Discard)
	return before == after, err
}
