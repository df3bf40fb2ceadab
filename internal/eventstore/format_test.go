package eventstore

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// TestEveryTableIsDumped: a dump stands for the whole copy only if it has every
// table that follows from the log.
func TestEveryTableIsDumped(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	var want, have []string
	err := s.pool.use(context.Background(), func(conn *sqlite.Conn) error {
		return query(conn, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", func(st *sqlite.Stmt) error {
			want = append(want, st.ColumnText(0))
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	have = append(have, "cursors") // no answer of the log
	for _, table := range dumped {
		have = append(have, table.name)
	}
	slices.Sort(have)
	if !slices.Equal(have, want) {
		t.Errorf("the dump has %v, the copy %v", have, want)
	}
}

// TestHistoriesHaveEveryType holds the property test of rebuilds to its word.
func TestHistoriesHaveEveryType(t *testing.T) {
	t.Parallel()
	missing := map[choir.Type]bool{}
	for _, info := range choir.Types() {
		missing[info.Type] = true
	}
	rapid.Check(t, func(rt *rapid.T) {
		_, drafts := history(rt, len(missing)+len(choir.Types()))
		for _, d := range drafts {
			delete(missing, d.Type)
		}
	})
	if len(missing) > 0 {
		t.Errorf("no history has %v", missing)
	}
}

var update = flag.Bool("update", false, "write the log of this format version into testdata")

// formats are the versions of the journal that were ever written; their logs lie
// in testdata and stay there.
var formats = []string{"CHOIRJ01"}

// TestOldFormatsOpen opens a log of every format version there was. Its copy of
// SQLite is made anew, so the events must be those that were written then.
func TestOldFormatsOpen(t *testing.T) {
	for _, format := range formats {
		t.Run(format, func(t *testing.T) {
			was := filepath.Join("testdata", format)
			if *update && format == formats[len(formats)-1] {
				writeFixture(t, was)
			}
			dir := t.TempDir()
			if err := os.CopyFS(filepath.Join(dir, journalDir), os.DirFS(was)); err != nil {
				t.Fatal(err)
			}
			raw := must[[]byte](t)(os.ReadFile(journalFile(dir)))
			if !strings.HasPrefix(string(raw), format) {
				t.Fatalf("it begins with %q", raw[:8])
			}
			s := open(t, dir)
			head := must[[]byte](t)(os.ReadFile(filepath.Join("testdata", format+".head")))
			if _, hash := s.Head(); string(hash) != strings.TrimSpace(string(head)) {
				t.Errorf("the head is %s, was %s", hash, head)
			}
			report, err := s.Verify(t.Context(), nil)
			if err != nil || report.Events < 60 || len(report.Repaired)+len(report.Holes) > 0 {
				t.Errorf("%+v %v", report, err)
			}
			if same, err := s.VerifyProjections(t.Context()); err != nil || !same {
				t.Errorf("a rebuild gives other projections: %v", err)
			}
			add(t, s, newID(), "", choir.PromptSubmitted{Text: "it goes on"})
		})
	}
}

// writeFixture makes the journal of a history in which every type occurs.
func writeFixture(t *testing.T, to string) {
	dir := t.TempDir()
	s := must[*Store](t)(Open(t.Context(), dir, testConfig()))
	type entries struct {
		roles  []choir.Role
		drafts []choir.Draft
	}
	made := rapid.Custom(func(rt *rapid.T) entries {
		roles, drafts := history(rt, len(choir.Types()))
		return entries{roles, drafts}
	}).Example(1)
	for i, d := range made.drafts {
		if len(d.Payload) < 2000 {
			must[[]choir.Receipt](t)(s.Append(t.Context(), made.roles[i], d))
		}
	}
	for _, p := range workload(t, 60) {
		must[[]choir.Receipt](t)(s.Append(t.Context(), p.role, p.d))
	}
	_, hash := s.Head()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, journalDir, "lock")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(filepath.Join(dir, journalDir))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to+".head", []byte(hash+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}
