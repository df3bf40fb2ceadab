package eventstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// flipEvent changes a bit of an event in the journal.
func flipEvent(t *testing.T, dir string, seq int) {
	t.Helper()
	raw, err := os.ReadFile(journalFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	flipIn(t, journalFile(dir), bytes.Index(raw, fmt.Appendf(nil, `,"seq":%d,`, seq)))
}

// seqs are the numbers of all events that the store serves, the same in both
// directions.
func seqs(t *testing.T, s *Store) []uint64 {
	t.Helper()
	var out []uint64
	for e, err := range s.Events(context.Background(), 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e.Seq)
	}
	var back []uint64
	for e, err := range s.Backwards(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		back = append(back, e.Seq)
	}
	if slices.Reverse(back); !slices.Equal(out, back) {
		t.Errorf("%d events in ascending order, %d in descending order", len(out), len(back))
	}
	return out
}

func allBut(head uint64, but ...uint64) []uint64 {
	var out []uint64
	for seq := uint64(1); seq <= head; seq++ {
		if !slices.Contains(but, seq) {
			out = append(out, seq)
		}
	}
	return out
}

func TestReadingOnlyUsesBothCopies(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct {
		do   func(t *testing.T, dir string)
		said string // of what it found
	}{
		"a bit in the journal":      {func(t *testing.T, dir string) { flipEvent(t, dir, 100) }, "events 100 to 100 are damaged in the journal copy"},
		"a bit in the last record":  {func(t *testing.T, dir string) { flipEvent(t, dir, 300) }, "events 300 to 300 are damaged in the journal copy"},
		"the journal cut short":     {func(t *testing.T, dir string) { os.Truncate(journalFile(dir), 70_000) }, "to 300 are damaged in the journal copy"},
		"the journal gone":          {func(t *testing.T, dir string) { os.RemoveAll(filepath.Join(dir, journalDir)) }, "events 1 to 300 are damaged in the journal copy"},
		"the SQLite copy gone":      {func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, sqliteFile)) }, "the SQLite copy is missing"},
		"the last row not readable": {func(t *testing.T, dir string) { sqlIn(t, dir, "UPDATE events SET event = '{}' WHERE seq = 300") }, "events 1 to 300 are damaged in the sqlite copy"},
		"each copy at another place": {func(t *testing.T, dir string) {
			flipEvent(t, dir, 100)
			sqlIn(t, dir, "UPDATE events SET event = '{}' WHERE seq = 200")
		}, "events 100 to 100 are damaged in the journal copy"},
		"an old copy and a bit in the journal": {func(t *testing.T, dir string) {
			flipEvent(t, dir, 100)
			sqlIn(t, dir, "DELETE FROM events WHERE seq > 250")
		}, "events 100 to 100 are damaged in the journal copy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			dir, _, head := closedLog(t)
			fault.do(t, dir)
			s := must[*Store](t)(OpenReadOnly(ctx, dir))
			defer s.Close()
			if got := seqs(t, s); !slices.Equal(got, allBut(head)) {
				t.Errorf("it lists %d events, last %d", len(got), got[len(got)-1])
			}
			if !strings.Contains(s.ReadOnly(), fault.said) || len(s.Damaged()) == 0 || len(s.Holes()) > 0 {
				t.Errorf("it says %q, holes %v", s.ReadOnly(), s.Holes())
			}
			report, err := s.Verify(ctx, nil)
			if err != nil || len(report.Damaged) == 0 || len(report.Holes)+len(report.Repaired) > 0 || report.Events != head {
				t.Errorf("%+v %v", report, err)
			}
		})
	}
}

// TestOnlyWhatIsBadInBothIsLost damages a record of both copies, and others of
// one each: the hole is exactly the first, everything else is served.
func TestOnlyWhatIsBadInBothIsLost(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir, _, head := closedLog(t)
	flipEvent(t, dir, 50)
	flipEvent(t, dir, 100)
	sqlIn(t, dir, "UPDATE events SET event = '{}' WHERE seq IN (100, 150)")
	ro := must[*Store](t)(OpenReadOnly(ctx, dir))
	s := open(t, dir)
	if len(s.Repairs()) != 1 || s.Repairs()[0].From != 50 || s.Repairs()[0].To != 50 {
		t.Errorf("repaired %+v", s.Repairs())
	}
	for name, s := range map[string]*Store{"reading only": ro, "open": s} {
		if len(s.Holes()) != 1 || s.Holes()[0].From != 100 || s.Holes()[0].To != 100 {
			t.Errorf("%s: holes %+v", name, s.Holes())
		}
		for _, part := range []string{"events 100 to 100 are damaged in both copies", "record at bytes ", filepath.Base(journalFile(dir))} {
			if !strings.Contains(s.ReadOnly(), part) {
				t.Errorf("%s: it says %q", name, s.ReadOnly())
			}
		}
		if got := seqs(t, s); !slices.Equal(got, allBut(head, 100)) {
			t.Errorf("%s: it serves %d events", name, len(got))
		}
		_, err := s.Append(ctx, choir.RoleCLI, draft(t, choir.PromptSubmitted{Text: "x"}, newID(), ""))
		wantCode(t, err, choir.CodeCorrupt)
	}
	if err := ro.Close(); err != nil {
		t.Error(err)
	}
}

// TestADamagedCopyIsKeptWhileItIsNeeded has a SQLite copy that cannot be used
// as a whole and holds the only good record.
func TestADamagedCopyIsKeptWhileItIsNeeded(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	aside := func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, asideFile))
		return err == nil
	}
	dir, want, head := closedLog(t)
	flipEvent(t, dir, 100)
	sqlIn(t, dir, "UPDATE events SET event = '{}' WHERE seq = 300")
	s := open(t, dir)
	if s.ReadOnly() != "" || !slices.Equal(seqs(t, s), allBut(head)) || dump(t, s) != want {
		t.Errorf("not restored: %s", s.ReadOnly())
	}
	if aside(dir) {
		t.Error("the damaged copy is still there")
	}

	dir, _, head = closedLog(t)
	flipEvent(t, dir, 100)
	sqlIn(t, dir, "UPDATE events SET event = '{}' WHERE seq IN (100, 300)")
	s = open(t, dir)
	if got := seqs(t, s); len(s.Holes()) != 1 || !slices.Equal(got, allBut(head, 100)) {
		t.Errorf("holes %v, %d events", s.Holes(), len(got))
	}
	if !aside(dir) {
		t.Error("the damaged copy is gone")
	}
	if report, err := s.Verify(ctx, nil); err != nil || len(report.Holes) != 1 || report.Holes[0].From != 100 {
		t.Errorf("%+v %v", report, err)
	}
}

// checkInBackground starts the check in the background, and gives what it restores.
func checkInBackground(s *Store) <-chan choir.LogRepaired {
	found := make(chan choir.LogRepaired)
	s.Check(func(r choir.LogRepaired) { found <- r })
	return found
}

// TestTheBackgroundFindsWhatOpeningDoesNot damages a row that no open looks at.
func TestTheBackgroundFindsWhatOpeningDoesNot(t *testing.T) {
	t.Parallel()
	dir, want, head := closedLog(t)
	sqlIn(t, dir, "UPDATE events SET type = 'x' WHERE seq = 17")
	s := open(t, dir)
	if len(s.Repairs()) > 0 {
		t.Fatal("the open sees it already")
	}
	found := checkInBackground(s)
	if r := <-found; r.Copy != "sqlite" || r.From != 17 || r.To != 17 {
		t.Errorf("%+v", r)
	}
	<-s.checking.finished
	if p := s.Checked(); !p.Finished || p.Done != head || p.Total != head || p.Repaired != 1 || p.Err != nil {
		t.Errorf("%+v", p)
	}
	if dump(t, s) != want {
		t.Error("the store is not what it was")
	}
}

// TestTheBackgroundFindsAPageThatNothingReads writes rubbish over the only page of a
// projection that neither an open nor an append reads.
func TestTheBackgroundFindsAPageThatNothingReads(t *testing.T) {
	t.Parallel()
	const page = 4096
	for _, table := range []string{"document_versions", "messages", "usage"} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			dir, want, _ := closedLog(t)
			root := rootPage(t, dir, table)
			f := must[*os.File](t)(os.OpenFile(filepath.Join(dir, "store.sqlite"), os.O_WRONLY, 0))
			must[int](t)(f.WriteAt(bytes.Repeat([]byte("rubbish "), page/8), (root-1)*page))
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			s := open(t, dir)
			if len(s.Repairs()) > 0 {
				t.Fatal("the open sees it already")
			}
			if r := <-checkInBackground(s); r.Copy != "sqlite" || r.Kind != "file" {
				t.Errorf("%+v", r)
			}
			<-s.checking.finished
			if dump(t, s) != want {
				t.Error("the store is not what it was")
			}
		})
	}
}

// rootPage returns the number of the page where a table of a closed store begins, from 1.
func rootPage(t *testing.T, dir, table string) (page int64) {
	t.Helper()
	conn := must[*sqlite.Conn](t)(sqlite.OpenConn(filepath.Join(dir, "store.sqlite"), sqlite.OpenReadWrite))
	err := errors.Join(query(conn, "SELECT rootpage FROM sqlite_schema WHERE name = ?", func(st *sqlite.Stmt) error {
		page = st.ColumnInt64(0)
		return nil
	}, table), conn.Close())
	if err != nil || page == 0 {
		t.Fatalf("%s: page %d %v", table, page, err)
	}
	return page
}

// TestWhatAReadMeetsIsMended damages a value of a projection, which the check in the
// background does not look at: the read that meets it is refused, has the copy verified, and the
// next one has its answer.
func TestWhatAReadMeetsIsMended(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir, want, _ := closedLog(t)
	sqlIn(t, dir, "UPDATE runs SET value = '{'")
	s := open(t, dir)
	found := checkInBackground(s)
	<-s.checking.finished
	if _, err := s.Runs(ctx, 10, 0); choir.CodeOf(err) != choir.CodeCorrupt {
		t.Fatalf("a damaged row is read: %v", err)
	}
	if r := <-found; r.Copy != "sqlite" {
		t.Errorf("%+v", r)
	}
	if dump(t, s) != want {
		t.Error("the store is not what it was")
	}
}

// TestDamageThatIsReadAgainIsVerifiedOnceAMinute damages a projection again after it
// was mended, and then an event in both copies, which ends the verifying of what reads
// meet: no verification can mend it.
func TestDamageThatIsReadAgainIsVerifiedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		dir, _, _ := closedLog(t)
		s := open(t, dir)
		found := checkInBackground(s)
		<-s.checking.finished
		met := func() {
			sqlIn(t, dir, "UPDATE runs SET value = '{'")
			if _, err := s.Runs(ctx, 10, 0); choir.CodeOf(err) != choir.CodeCorrupt {
				t.Fatalf("a damaged row is read: %v", err)
			}
		}
		met()
		<-found
		verified := time.Now()
		met()
		synctest.Wait()
		select {
		case r := <-found:
			t.Errorf("verified again at once: %+v", r)
		default:
		}
		<-found
		if apart := time.Since(verified); apart != time.Minute {
			t.Errorf("verified again after %v", apart)
		}
		raw := must[[]byte](t)(os.ReadFile(journalFile(dir)))
		flipInPlace(t, journalFile(dir), int64(bytes.Index(raw, []byte(`,"seq":100,`))))
		sqlIn(t, dir, "UPDATE events SET event = '{}' WHERE seq = 100")
		met()
		for ended := false; !ended; {
			select {
			case <-found: // the projection
			case <-s.checking.done:
				ended = true
			}
		}
		if p := s.Checked(); p.Holes != 1 {
			t.Errorf("%+v", p)
		}
	})
}

// TestWhatAnAppendMeetsDuringAVerificationIsMended damages a row that appends need and
// that SQLite's own check does not see, and appends once a verification has compared
// the events: the verification was refused for it, in place of mending it.
func TestWhatAnAppendMeetsDuringAVerificationIsMended(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir, _, _ := closedLog(t)
	sqlIn(t, dir, "UPDATE mark_trail SET value = '{'")
	s := open(t, dir)
	appended := false
	report, err := s.Verify(ctx, func(done, total uint64) {
		if done < total || appended {
			return
		}
		appended = true
		add(t, s, "", "", choir.SnapshotTaken{Snapshot: choir.DigestOf(nil), Reason: "created"})
		if _, err := s.Runs(ctx, 1, 0); choir.CodeOf(err) != choir.CodeCorrupt {
			t.Errorf("the append met no damage: %v", err)
		}
	})
	if err != nil || len(report.Repaired) != 1 || report.Repaired[0].Copy != "sqlite" || len(report.Holes) > 0 {
		t.Fatalf("%+v %v", report, err)
	}
	if _, err := s.Runs(ctx, 1, 0); err != nil || !appended {
		t.Errorf("after the verification: %v", err)
	}
}

// TestNewIdsNeedNoQuestion: in a log of any length an id that is newer than all
// is known to be new, and an old one is found.
func TestNewIdsNeedNoQuestion(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir, _, _ := closedLog(t)
	s := open(t, dir)
	first := must[[]choir.Event](t)(s.EventsAfter(ctx, 0, 1))[0]
	later := must[choir.ID](t)(choir.NewID(testTime+1, bytes.NewReader(make([]byte, 10))))
	if s.recent.lacksID(first.ID) || !s.recent.lacksID(later) {
		t.Error("old and new ids are not told apart")
	}
	d := choir.Draft{ID: first.ID, Type: first.Type, Run: first.Run, Task: first.Task, Cause: first.Cause, Payload: first.Payload, Blob: first.Blob}
	if r, err := s.Append(ctx, choir.RoleCLI, d); err != nil || !r[0].Duplicate || r[0].Seq != 1 {
		t.Errorf("%+v %v", r, err)
	}
	var forgetful recent
	forgotten := newID()
	for id, n := forgotten, 0; n < 3*recentEvents; id, n = newID(), n+1 {
		forgetful.add(&choir.Event{ID: id, Seq: 1}, "")
	}
	if forgetful.lacksID(forgotten) || !forgetful.lacksID(later) {
		t.Error("what is forgotten may be in the log, what is newer may not")
	}
}
