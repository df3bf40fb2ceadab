package eventstore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/journal"
	"choiros/internal/recovery"
)

// hung is how long a test waits before it calls a store stuck: far more than
// anything here takes on a loaded machine.
const hung = time.Minute

// writers append in the background until stopped, and remember what was
// acknowledged.
type writers struct {
	t    *testing.T
	s    *Store
	stop atomic.Bool
	wg   sync.WaitGroup

	mu    sync.Mutex // guards the two below
	acked map[choir.ID]choir.Receipt
	grown chan struct{} // closed when acked grows; nil while nobody waits
}

// startWriters starts n writers that append what next makes.
func startWriters(t *testing.T, s *Store, n int, next func() []choir.Draft) *writers {
	w := &writers{t: t, s: s, acked: map[choir.ID]choir.Receipt{}}
	for range n {
		w.wg.Go(func() {
			for !w.stop.Load() {
				receipts, err := s.Append(context.Background(), choir.RoleShell, next()...)
				if err != nil {
					t.Errorf("an append failed: %v", err)
					return
				}
				w.acknowledged(receipts)
			}
		})
	}
	return w
}

func (w *writers) acknowledged(receipts []choir.Receipt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range receipts {
		w.acked[r.ID] = r
	}
	if w.grown != nil {
		close(w.grown)
		w.grown = nil
	}
}

// waitFor returns when the writers have n acknowledgements more than they had.
func (w *writers) waitFor(n int) {
	w.t.Helper()
	late := time.After(hung)
	for first := -1; ; {
		w.mu.Lock()
		have := len(w.acked)
		if w.grown == nil {
			w.grown = make(chan struct{})
		}
		grown := w.grown
		w.mu.Unlock()
		if first < 0 {
			first = have
		}
		if have >= first+n {
			return
		}
		select {
		case <-grown:
		case <-late:
			w.t.Fatalf("appends hang: %d of %d were acknowledged", have-first, n)
		}
	}
}

// end stops the writers and gives what was acknowledged.
func (w *writers) end() map[choir.ID]choir.Receipt {
	w.t.Helper()
	w.stop.Store(true)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.wg.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(hung):
		w.t.Fatal("an append hangs")
	}
	return w.acked
}

// mustHaveAll holds a log against what was acknowledged: nothing is lost, no
// number is there twice, the copies are the same and sound.
func mustHaveAll(t *testing.T, s *Store, acked map[choir.ID]choir.Receipt) {
	t.Helper()
	ctx := context.Background()
	numbers := map[uint64]choir.ID{}
	for id, r := range acked {
		if other, twice := numbers[r.Seq]; twice {
			t.Errorf("number %d was given to %s and to %s", r.Seq, other, id)
		}
		numbers[r.Seq] = id
		if e, err := s.Event(ctx, id); err != nil || e.Seq != r.Seq || e.Hash != r.Hash {
			t.Fatalf("event %d was acknowledged and is %+v: %v", r.Seq, e, err)
		}
	}
	if s.ReadOnly() != "" {
		t.Errorf("the log is read-only: %s", s.ReadOnly())
	}
	if rows, head := eventRows(t, s), must1(s.Head()); rows != head {
		t.Errorf("the SQLite copy has %d of %d events", rows, head)
	}
	if report, err := s.Verify(ctx, nil); err != nil || len(report.Repaired)+len(report.Holes) > 0 {
		t.Errorf("the log is not sound: %+v %v", report, err)
	}
}

func must1(head uint64, _ choir.Digest) uint64 { return head }

// eventRows counts the events in the SQLite copy.
func eventRows(t *testing.T, s *Store) (rows uint64) {
	t.Helper()
	err := s.read(context.Background(), func(conn *sqlite.Conn) error {
		n, err := queryInt(conn, "SELECT count(*) FROM events")
		rows = uint64(n)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// versionsOf makes drafts of new versions of a document, n at a time.
func versionsOf(t *testing.T, s *Store, n, size int) func() []choir.Draft {
	doc, text := newID(), strings.Repeat("y", size)
	add(t, s, "", "", choir.DocumentCreated{Document: doc, Title: "t", Content: "x"})
	return func() []choir.Draft {
		drafts := make([]choir.Draft, n)
		for i := range drafts {
			drafts[i] = draft(t, choir.DocumentVersioned{Document: doc, Version: 1, Content: text}, "", "")
		}
		return drafts
	}
}

// sealedSegment appends until the log's first segment has ended, and names it.
func sealedSegment(t *testing.T, s *Store, next func() []choir.Draft) string {
	t.Helper()
	for {
		must[[]choir.Receipt](t)(s.Append(context.Background(), choir.RoleShell, next()...))
		if segments := must[[]string](t)(filepath.Glob(filepath.Join(s.dir, journalDir, "*.seg"))); len(segments) > 1 {
			return segments[0]
		}
	}
}

// flipInPlace changes one bit of a file that others have open.
func flipInPlace(t testing.TB, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	if _, err := f.WriteAt(b, at); err != nil {
		t.Fatal(err)
	}
}

// verifyInTime is Verify that must not hang.
func verifyInTime(t *testing.T, s *Store) Report {
	t.Helper()
	type answer struct {
		report Report
		err    error
	}
	got := make(chan answer, 1)
	go func() {
		report, err := s.Verify(context.Background(), nil)
		got <- answer{report, err}
	}()
	select {
	case a := <-got:
		if a.err != nil {
			t.Fatal(a.err)
		}
		return a.report
	case <-time.After(hung):
		t.Fatal("the verification hangs")
	}
	return Report{}
}

// TestARepairWhileOthersAppendLosesNothing: a repair once read the next number
// from the disk while appends had been given numbers behind it.
func TestARepairWhileOthersAppendLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	next := versionsOf(t, s, 1, 20_000)
	segment := sealedSegment(t, s, next)
	w := startWriters(t, s, 4, next)
	w.waitFor(8)
	flipInPlace(t, segment, 4<<20)
	if r := verifyInTime(t, s); len(r.Repaired) != 1 || r.Repaired[0].Copy != "journal" || len(r.Holes) > 0 {
		t.Errorf("repaired %+v, holes %+v", r.Repaired, r.Holes)
	}
	w.waitFor(50)
	acked := w.end()
	mustHaveAll(t, s, acked)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	mustHaveAll(t, open(t, dir), acked)
}

// TestARepairUnderManyLargeAppendsDoesNotHang: a repair once held the SQLite
// copy and waited for the journal, while an append held the journal and waited
// for room in the queue of the copy.
func TestARepairUnderManyLargeAppendsDoesNotHang(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	next := versionsOf(t, s, 16, 60_000)
	segment := sealedSegment(t, s, next)
	w := startWriters(t, s, 24, next)
	rounds := 4
	if testing.Short() {
		rounds = 2
	}
	for range rounds {
		w.waitFor(16)
		flipInPlace(t, segment, 100_000)
		if report := repairInTime(t, s, segment); len(report.Repaired) != 1 || len(report.Holes) > 0 {
			t.Errorf("repaired %+v, holes %+v", report.Repaired, report.Holes)
		}
	}
	w.waitFor(16)
	mustHaveAll(t, s, w.end())
}

// repairInTime repairs a segment, as a verification does that found it damaged,
// and must not hang.
func repairInTime(t *testing.T, s *Store, segment string) (report Report) {
	t.Helper()
	suspect := findings{damage: []journal.Damage{{File: segment}}}
	ended := make(chan error, 1)
	go func() {
		ended <- s.barrier.Alone(context.Background(), recovery.Repair, func(ctx context.Context) error { return s.mend(ctx, suspect, &report) })
	}()
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(hung):
		t.Fatal("the repair hangs")
	}
	return report
}

// TestARemadeCopyHasEveryEvent: the copy was once made up to an event that was
// looked up before the last ones were applied.
func TestARemadeCopyHasEveryEvent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t, t.TempDir())
	w := startWriters(t, s, 8, func() []choir.Draft {
		return []choir.Draft{draft(t, choir.SettingChanged{Key: "a", Value: "v"}, "", "")}
	})
	w.waitFor(2000)
	for range 8 {
		if err := s.remakeSQLite(ctx); err != nil {
			t.Fatal(err)
		}
	}
	mustHaveAll(t, s, w.end())
}
