package main

import (
	"strings"
	"testing"

	"choiros/bench"
	"choiros/internal/choir"
)

// TestBenchAttacksItself has choir attack a computer of its own with two programs of the
// corpus; make attack runs all.
func TestBenchAttacksItself(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "")
	var rows []bench.Row
	for line := range strings.Lines(m.must("bench", "--quick", "attacks", "--json")) {
		var r bench.Row
		if err := choir.DecodeStrict([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	if len(rows) != 3 {
		t.Fatalf("%d rows: %+v", len(rows), rows)
	}
	for i, name := range []string{"files", "network", "all"} {
		if r := rows[i]; r.Case != name || r.N == 0 || int(r.Median) != r.N || r.Failures > 0 || r.Skipped != "" {
			t.Errorf("%+v", r)
		}
	}
	if last := rows[2]; last.N != rows[0].N+rows[1].N || last.Met == nil || !*last.Met {
		t.Errorf("%+v", last)
	}
}
