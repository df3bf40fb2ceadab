package eventstore

import (
	"context"
	"slices"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/journal"
	"choiros/internal/recovery"
)

// Verify compares both copies byte by byte, checks every hash and the chain, runs
// SQLite's check of its file, and compares the projections with the log. Damage in one
// copy is restored from the other; damage in both is reported as a hole. Appends and
// reads continue; appends wait only while a repair runs behind the barrier, which
// checks the damage again. progress, unless nil, gets the number of events compared so
// far and in total. A read-only store repairs nothing and reports in Damaged.
func (s *Store) Verify(ctx context.Context, progress func(done, total uint64)) (Report, error) {
	if s.applier.static {
		return s.inspect(ctx, progress)
	}
	report := Report{}
	var found findings
	err := s.barrier.Beside(ctx, recovery.Verify, func(ctx context.Context) (err error) {
		report.Events, report.Head = s.journal.Head()
		found, err = s.readBoth(ctx, progress)
		return err
	})
	if err != nil {
		return report, err
	}
	report.Holes = append(report.Holes, found.broken...)
	if !found.sound() {
		mend := func(ctx context.Context) error { return s.mend(ctx, found, &report) }
		if err := s.barrier.Alone(ctx, recovery.Repair, mend); err != nil {
			return report, err
		}
	}
	if len(report.Holes) > 0 {
		return report, nil // a damaged copy may be needed yet
	}
	remade := s.applier.timesRemade()
	err = s.mendProjections(ctx, &report)
	if choir.CodeOf(err) == choir.CodeCorrupt {
		// An append met a row that the check of the file does not see.
		damaged := findings{file: true, remade: remade}
		err = s.barrier.Alone(ctx, recovery.Repair, func(ctx context.Context) error { return s.mend(ctx, damaged, &report) })
	}
	return report, err
}

// findings is the damage that a verification found beside appends and other repairs.
type findings struct {
	damage []journal.Damage
	wrong  []item // rows of the SQLite copy that are not these events
	file   bool   // the file of the SQLite copy is damaged
	remade int    // how often that file had been replaced
	broken []Hole // events that are of another log
}

func (f *findings) sound() bool { return len(f.damage)+len(f.wrong) == 0 && !f.file }

// readBoth compares both copies up to the last event of the SQLite copy; later events
// are not missing, only not copied yet.
func (s *Store) readBoth(ctx context.Context, progress func(done, total uint64)) (f findings, err error) {
	var family ancestry
	f.remade = s.applier.timesRemade()
	err = s.read(ctx, func(conn *sqlite.Conn) (err error) {
		f.damage, f.wrong, err = s.compare(ctx, conn, s.applier.reached(), &family, progress)
		return err
	})
	if choir.CodeOf(err) == choir.CodeCorrupt {
		f.file, f.wrong = true, nil
		f.damage, err = s.journal.Verify(ctx, nil)
	}
	f.broken = family.broken
	return f, err
}

// confirm checks the findings again behind the barrier, because another repair may have
// fixed them.
func (s *Store) confirm(ctx context.Context, f *findings) (err error) {
	f.file = f.file && f.remade == s.applier.timesRemade()
	if len(f.damage) > 0 {
		if f.damage, err = s.journal.Confirm(ctx, f.damage); err != nil {
			return err
		}
	}
	if f.file || len(f.wrong) == 0 {
		return nil
	}
	return s.pool.use(ctx, func(conn *sqlite.Conn) error {
		f.wrong, err = stillWrong(conn, f.wrong)
		return err
	})
}

// mend confirms the findings and restores each copy from the other. The caller is
// behind the barrier.
func (s *Store) mend(ctx context.Context, f findings, report *Report) error {
	if err := s.confirm(ctx, &f); err != nil {
		return err
	}
	if f.file {
		report.Repaired = append(report.Repaired, choir.LogRepaired{Copy: "sqlite", From: 1, To: max(1, report.Events), Damage: "the file is damaged", Kind: "file"})
	}
	if len(f.damage) > 0 {
		repaired, holes, err := s.mendJournal(f.damage)
		if err != nil {
			return err
		}
		f.wrong = withoutRepaired(f.wrong, repaired)
		report.Repaired, report.Holes = append(report.Repaired, repaired...), append(report.Holes, holes...)
	}
	if len(report.Holes) > 0 {
		return nil // a damaged copy may be needed yet
	}
	if f.file {
		return s.remake(ctx)
	}
	if len(f.wrong) == 0 {
		return nil
	}
	if err := s.applier.replaceEvents(f.wrong); err != nil {
		return err
	}
	report.Repaired = append(report.Repaired, rowsDiffer(f.wrong)...)
	return nil
}

// stillWrong returns the events whose rows in the SQLite copy still differ.
func stillWrong(conn *sqlite.Conn, wrong []item) (out []item, err error) {
	for _, it := range wrong {
		same := false
		err := query(conn, "SELECT seq, event, id, type, run FROM events WHERE seq = ?", func(st *sqlite.Stmt) error {
			same = sameRow(st, journal.Record{Seq: it.event.Seq, Event: it.raw}, &it.event)
			return nil
		}, it.event.Seq)
		if err != nil {
			return nil, err
		}
		if !same {
			out = append(out, it)
		}
	}
	return out, nil
}

// mendProjections rebuilds the projections if they differ from the log, and adds that
// to the report.
func (s *Store) mendProjections(ctx context.Context, report *Report) error {
	tables, last, err := s.wrongProjections(ctx)
	if err != nil || len(tables) == 0 {
		return err
	}
	if err := s.Rebuild(ctx); err != nil {
		return err
	}
	report.Repaired = append(report.Repaired, answersDiffer(tables, last))
	return nil
}

// withoutRepaired removes from wrong the rows whose journal record was damaged and is
// now repaired.
func withoutRepaired(wrong []item, repaired []choir.LogRepaired) []item {
	return slices.DeleteFunc(wrong, func(it item) bool {
		return slices.ContainsFunc(repaired, func(r choir.LogRepaired) bool { return r.From <= it.event.Seq && it.event.Seq <= r.To })
	})
}

// inspect does the work of Verify for a read-only store.
func (s *Store) inspect(ctx context.Context, progress func(done, total uint64)) (Report, error) {
	head, hash := s.Head()
	report := Report{Events: head, Head: hash}
	if s.opened.sqliteDamage != "" {
		report.Damaged = []choir.LogRepaired{{Copy: "sqlite", From: 1, To: head, Damage: clip(s.opened.sqliteDamage), Kind: "file"}}
	}
	var family ancestry
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		damage, wrong, err := s.compare(ctx, conn, head, &family, progress)
		if choir.CodeOf(sqliteError("", err)) == choir.CodeCorrupt {
			report.Damaged = append(report.Damaged, choir.LogRepaired{Copy: "sqlite", From: 1, To: max(1, head), Damage: clip(err.Error()), Kind: "file"})
			damage, err = s.journal.Verify(ctx, nil)
		}
		if err != nil {
			return err
		}
		fetch, done := s.fetchAll(fetchFrom(conn))
		defer done()
		if damage, err = s.journal.Blame(damage, fetch); err != nil {
			return err
		}
		mendable, holes := divide(damage, fetch)
		report.Damaged = append(append(report.Damaged, mendable...), rowsDiffer(withoutRepaired(wrong, mendable))...)
		report.Holes = append(holes, family.broken...)
		return nil
	})
	if err != nil || len(report.Damaged)+len(report.Holes) > 0 {
		return report, err
	}
	tables, last, err := s.wrongProjections(ctx)
	if len(tables) > 0 {
		report.Damaged = append(report.Damaged, answersDiffer(tables, last))
	}
	return report, err
}

// rowsDiffer returns one repair report for each run of consecutive wrong rows.
func rowsDiffer(wrong []item) (out []choir.LogRepaired) {
	for i, from := 0, 0; i < len(wrong); i++ {
		if i+1 < len(wrong) && wrong[i+1].event.Seq == wrong[i].event.Seq+1 {
			continue
		}
		out = append(out, choir.LogRepaired{
			Copy: "sqlite", From: wrong[from].event.Seq, To: wrong[i].event.Seq, Damage: "rows differ from the journal", Kind: "rows",
		})
		from = i + 1
	}
	return out
}

// compare compares both copies up to event head. It returns the damage of the journal,
// and the events whose rows in the SQLite copy are wrong.
func (s *Store) compare(ctx context.Context, conn *sqlite.Conn, head uint64, family *ancestry, progress func(done, total uint64)) (damage []journal.Damage, wrong []item, err error) {
	if err := checkFile(conn); err != nil {
		return nil, nil, err
	}
	pass := s.journal.NewPass()
	for pass.More() {
		_, last := pass.Span()
		if err := compareSegment(ctx, conn, pass, head, family, &wrong); err != nil {
			return nil, nil, err
		}
		if progress != nil {
			progress(min(last, head), head)
		}
	}
	return pass.Damage(), wrong, nil
}

// sameRow reports whether a row of the SQLite copy equals the journal's record and its
// indexed columns equal the event's fields.
func sameRow(st *sqlite.Stmt, r journal.Record, e *choir.Event) bool {
	return uint64(st.ColumnInt64(0)) == r.Seq && st.ColumnText(1) == string(r.Event) &&
		st.ColumnText(2) == string(e.ID) && st.ColumnText(3) == string(e.Type) && st.ColumnText(4) == string(e.Run)
}

// checkFile runs SQLite's integrity check. The faster quick_check does not compare
// indexes with their tables.
func checkFile(conn *sqlite.Conn) error { return runCheck(conn, "PRAGMA integrity_check(1)") }

// checkStructure runs SQLite's quick check of one table and its indexes.
func checkStructure(conn *sqlite.Conn, table string) error {
	return runCheck(conn, "PRAGMA quick_check("+table+")")
}

// runCheck runs a pragma that answers with one row "ok", or with the damage that it found.
func runCheck(conn *sqlite.Conn, pragma string) error {
	var found string
	err := query(conn, pragma, func(st *sqlite.Stmt) error {
		if found == "" {
			found = st.ColumnText(0)
		}
		return nil
	})
	if err == nil && found != "ok" {
		err = choir.Refuse("eventstore.verify", choir.ReasonSQLiteDamaged, choir.TextOf("why", found))
	}
	return err
}

// VerifyProjections rebuilds the projections and reports whether they were right
// before.
func (s *Store) VerifyProjections(ctx context.Context) (same bool, err error) {
	tables, _, err := s.wrongProjections(ctx)
	if err != nil {
		return false, err
	}
	return len(tables) == 0, s.Rebuild(ctx)
}
