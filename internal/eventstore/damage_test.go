package eventstore

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"choiros/internal/choir"
)

// closedLog is a log of a few hundred events and its dump.
func closedLog(t *testing.T) (dir string, digest choir.Digest, head uint64) {
	t.Helper()
	dir = t.TempDir()
	s := open(t, dir)
	load := workload(t, 300)
	for _, p := range load {
		must[[]choir.Receipt](t)(s.Append(context.Background(), p.role, p.d))
	}
	digest = dump(t, s)
	head, _ = s.Head()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, digest, head
}

func flipIn(t *testing.T, path string, at int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[(at+len(raw))%len(raw)] ^= 4
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func journalFile(dir string) string {
	return filepath.Join(dir, journalDir, "00000000000000000001.seg")
}

func sqlIn(t *testing.T, dir, script string) {
	t.Helper()
	conn, err := sqlite.OpenConn(filepath.Join(dir, sqliteFile), sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := sqlitex.ExecuteScript(conn, script, nil); err != nil {
		t.Fatal(err)
	}
}

// One fault on one copy: after opening and verifying, nothing is lost, the
// repair is reported, and the store is exactly what it was.
func TestOneFaultOnOneCopyIsMendedAndReported(t *testing.T) {
	t.Parallel()
	faults := map[string]struct {
		copy string
		do   func(t *testing.T, dir string)
	}{
		"sqlite: an index that is not of its table": {"sqlite", func(t *testing.T, dir string) {
			sqlIn(t, dir, "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE INDEX runs_by_seq ON runs (key)' WHERE name = 'runs_by_seq'")
		}},
		"journal: a bit in the last record": {"journal", func(t *testing.T, dir string) { flipIn(t, journalFile(dir), -50) }},
		"journal: a bit in the middle":      {"journal", func(t *testing.T, dir string) { flipIn(t, journalFile(dir), 50_000) }},
		"journal: a bit in the header":      {"journal", func(t *testing.T, dir string) { flipIn(t, journalFile(dir), 10) }},
		"journal: cut short":                {"journal", func(t *testing.T, dir string) { os.Truncate(journalFile(dir), 70_000) }},
		"journal: all gone":                 {"journal", func(t *testing.T, dir string) { os.RemoveAll(filepath.Join(dir, journalDir)) }},
		"sqlite: gone":                      {"sqlite", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, sqliteFile)) }},
		"sqlite: not a database": {"sqlite", func(t *testing.T, dir string) {
			os.WriteFile(filepath.Join(dir, sqliteFile), bytes.Repeat([]byte("x"), 9000), 0o600)
		}},
		"sqlite: cut short": {"sqlite", func(t *testing.T, dir string) { os.Truncate(filepath.Join(dir, sqliteFile), 50_000) }},
		"sqlite: a row is different": {"sqlite", func(t *testing.T, dir string) {
			sqlIn(t, dir, "UPDATE events SET event = replace(event, 'a', 'b') WHERE seq = 17")
		}},
		"sqlite: rows are gone":             {"sqlite", func(t *testing.T, dir string) { sqlIn(t, dir, "DELETE FROM events WHERE seq BETWEEN 20 AND 30") }},
		"sqlite: a column is different":     {"sqlite", func(t *testing.T, dir string) { sqlIn(t, dir, "UPDATE events SET type = 'x' WHERE seq = 17") }},
		"sqlite: the last row is different": {"sqlite", func(t *testing.T, dir string) { sqlIn(t, dir, "UPDATE events SET event = '{}' WHERE seq = 300") }},
		"sqlite: another log's file instead": {"sqlite", func(t *testing.T, dir string) {
			other, _, _ := closedLog(t)
			os.Rename(filepath.Join(other, sqliteFile), filepath.Join(dir, sqliteFile))
		}},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			dir, want, head := closedLog(t)
			fault.do(t, dir)
			s := open(t, dir)
			report, err := s.Verify(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			repaired := append(s.Repairs(), report.Repaired...)
			if len(repaired) == 0 || len(report.Holes) > 0 || s.ReadOnly() != "" {
				t.Fatalf("repaired %v, holes %v, %s", repaired, report.Holes, s.ReadOnly())
			}
			for _, r := range repaired {
				if r.Copy != fault.copy {
					t.Errorf("the wrong copy is blamed: %+v", r)
				}
				add(t, s, "", "", r)
			}
			if seq, _ := s.Head(); seq != head+uint64(len(repaired)) {
				t.Errorf("head is %d, was %d", seq, head)
			}
			if report, err := s.Verify(ctx, nil); err != nil || len(report.Repaired)+len(report.Holes) > 0 {
				t.Errorf("after the repair: %+v %v", report, err)
			}
			if err := s.Rebuild(ctx); err != nil {
				t.Error(err)
			}
			if got := dumpWithoutRepairs(t, s, head); got != want {
				t.Error("the store is not what it was")
			}
		})
	}
}

// dumpWithoutRepairs is the dump as it was before events after head came. None
// of those has a projection.
func dumpWithoutRepairs(t *testing.T, s *Store, head uint64) choir.Digest {
	t.Helper()
	var all bytes.Buffer
	must[choir.Digest](t)(s.Dump(context.Background(), &all))
	var out bytes.Buffer
	for _, line := range bytes.SplitAfter(all.Bytes(), []byte("\n")) {
		if !bytes.Contains(line, []byte(`,"log.repaired",null,`)) {
			out.Write(line)
		}
	}
	return choir.DigestOf(out.Bytes())
}

func TestAFaultOnBothCopiesIsANamedHole(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir, _, head := closedLog(t)
	raw, err := os.ReadFile(journalFile(dir))
	if err != nil {
		t.Fatal(err)
	}
	flipIn(t, journalFile(dir), bytes.Index(raw, []byte(`,"seq":100,`)))
	sqlIn(t, dir, "UPDATE events SET event = '{}' WHERE seq = 100")
	s := open(t, dir)
	if h := s.Holes(); len(h) == 1 && (h[0].Kind != "record" || h[0].File != "00000000000000000001.seg" || h[0].Offset == 0 || h[0].End <= h[0].Offset) {
		t.Errorf("the hole in fields: %+v", h[0])
	}
	if s.ReadOnly() == "" || len(s.Holes()) != 1 || s.Holes()[0].From != 100 || s.Holes()[0].To != 100 {
		t.Fatalf("read-only %q, holes %+v", s.ReadOnly(), s.Holes())
	}
	_, err = s.Append(ctx, choir.RoleCLI, draft(t, choir.PromptSubmitted{Text: "x"}, newID(), ""))
	wantCode(t, err, choir.CodeCorrupt)
	if seq, _ := s.Head(); seq != head {
		t.Errorf("the log became shorter: %d", seq)
	}
	if runs, err := s.Runs(ctx, 1, 0); err != nil || len(runs) != 1 {
		t.Errorf("reading beside the hole: %v", err)
	}
	report, err := s.Verify(ctx, nil)
	if err != nil || len(report.Holes) != 1 {
		t.Errorf("%+v %v", report, err)
	}
}

func TestAChangedProjectionIsFoundAndMended(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir, want, _ := closedLog(t)
	sqlIn(t, dir, "UPDATE runs SET state = 'failed'; DELETE FROM files")
	s := open(t, dir)
	if same, err := s.VerifyProjections(ctx); err != nil || same {
		t.Errorf("not seen: %v", err)
	}
	if same, err := s.VerifyProjections(ctx); err != nil || !same {
		t.Errorf("not mended: %v", err)
	}
	if got := must[choir.Digest](t)(s.Dump(ctx, io.Discard)); got != want {
		t.Error("the store is not what it was")
	}
}

func TestVerifyHoldsTheAnswersAgainstTheLog(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir, want, _ := closedLog(t)
	sqlIn(t, dir, "UPDATE runs SET value = replace(value, 'e', 'f')")
	read, err := OpenReadOnly(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	report, err := read.Verify(ctx, nil)
	if cerr := read.Close(); err != nil || cerr != nil || len(report.Damaged) != 1 || !strings.Contains(report.Damaged[0].Damage, "runs") {
		t.Errorf("read only: %+v %v %v", report, err, cerr)
	}
	s := open(t, dir)
	report, err = s.Verify(ctx, nil)
	if err != nil || len(report.Repaired) != 1 || report.Repaired[0].Damage != "the answers in runs are not what the log says" {
		t.Errorf("%+v %v", report, err)
	}
	if got := must[choir.Digest](t)(s.Dump(ctx, io.Discard)); got != want {
		t.Error("the store is not what it was")
	}
	if report, err = s.Verify(ctx, nil); err != nil || len(report.Repaired) != 0 {
		t.Errorf("after the mend: %+v %v", report, err)
	}
}

func TestACopyThatLagsIsCaughtUp(t *testing.T) {
	t.Parallel()
	dir, want, _ := closedLog(t)
	sqlIn(t, dir, "DELETE FROM events WHERE seq > 299; DELETE FROM runs WHERE state <> 'done'")
	// Event 300 is in the last run, whose row it has to bring back by itself.
	s := open(t, dir)
	if err := s.Rebuild(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := dump(t, s); got != want || len(s.Repairs()) > 0 {
		t.Errorf("not caught up: %v", s.Repairs())
	}
}

// TestAnyPageOfTheCopyMayBeRubbish spoils each page of the SQLite copy in turn, of a
// copy that has all events and of one that lags behind the journal: the log opens and
// can be appended to, and after a verification it is what it was.
func TestAnyPageOfTheCopyMayBeRubbish(t *testing.T) {
	t.Parallel()
	const page = 4096
	ctx := context.Background()
	dir, _, _ := closedLog(t)
	file := filepath.Join(dir, sqliteFile)
	lagging := must[[]byte](t)(os.ReadFile(file))
	s := open(t, dir)
	for _, p := range workload(t, 20) {
		must[[]choir.Receipt](t)(s.Append(ctx, p.role, p.d))
	}
	want := dump(t, s)
	head, _ := s.Head()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	step := page
	if testing.Short() {
		step *= 5
	}
	for name, copied := range map[string][]byte{"whole": must[[]byte](t)(os.ReadFile(file)), "lagging": lagging} {
		for at := 0; at+page <= len(copied); at += step {
			spoiled := slices.Clone(copied)
			copy(spoiled[at:at+page], bytes.Repeat([]byte("rubbish "), page/8))
			if err := os.WriteFile(file, spoiled, 0o600); err != nil {
				t.Fatal(err)
			}
			dir := copiedLog(t, dir)
			s, err := Open(ctx, dir, testConfig())
			if err != nil {
				t.Errorf("page %d, %s: %v", at/page, name, err)
				continue
			}
			report, err := s.Verify(ctx, nil)
			if err != nil || len(report.Holes) > 0 || s.ReadOnly() != "" {
				t.Errorf("page %d, %s: %+v %v %s", at/page, name, report, err, s.ReadOnly())
			}
			for _, r := range append(s.Repairs(), report.Repaired...) {
				if r.Copy != "sqlite" {
					t.Errorf("page %d, %s: the wrong copy is blamed: %+v", at/page, name, r)
				}
				add(t, s, "", "", r)
			}
			if got := dumpWithoutRepairs(t, s, head); got != want {
				t.Errorf("page %d, %s: the store is not what it was", at/page, name)
			}
			if err := s.Close(); err != nil {
				t.Errorf("page %d, %s: %v", at/page, name, err)
			}
			os.RemoveAll(dir)
		}
	}
}

// copiedLog is a copy of a log that is closed.
func copiedLog(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "log")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}
