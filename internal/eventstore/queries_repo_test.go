package eventstore

import (
	"slices"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
)

// TestEventsAboutProjectsAreReadWithoutTheRestOfTheLog: the first list of projects after a
// start took as long as the whole log.
func TestEventsAboutProjectsAreReadWithoutTheRestOfTheLog(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	var want []uint64
	for i := range 60 {
		var p choir.Payload = choir.PromptSubmitted{Text: "x"}
		run := newID()
		if i%20 == 7 {
			p, run = choir.RepoLinked{Name: "a", URL: "https://git.example/a.git"}, ""
		}
		receipts, err := s.Append(t.Context(), choir.RoleShell, draft(t, p, run, ""))
		if err != nil {
			t.Fatal(err)
		}
		if run == "" {
			want = append(want, receipts[0].Seq)
		}
	}
	read := func(after uint64) (seqs []uint64) {
		for e, err := range s.RepoEvents(t.Context(), after) {
			if err != nil {
				t.Fatal(err)
			}
			seqs = append(seqs, e.Seq)
		}
		return seqs
	}
	if got := read(0); len(want) != 3 || !slices.Equal(got, want) {
		t.Errorf("read %v, want %v", got, want)
	}
	if got := read(want[0]); !slices.Equal(got, want[1:]) {
		t.Errorf("after %d read %v, want %v", want[0], got, want[1:])
	}
	var plan []string
	err := s.read(t.Context(), func(conn *sqlite.Conn) error {
		return query(conn, "EXPLAIN QUERY PLAN "+selectEvents(typeIn(repoTypes...)), func(st *sqlite.Stmt) error {
			plan = append(plan, st.ColumnText(3))
			return nil
		}, 0, 10)
	})
	if err != nil || len(plan) != 1 || !strings.Contains(plan[0], "events_of_repos") {
		t.Errorf("SQLite reads by %q, %v", plan, err)
	}
}
