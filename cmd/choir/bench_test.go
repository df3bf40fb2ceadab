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

// TestBenchServesChoirs has choir measure computers of choirs that it starts.
func TestBenchServesChoirs(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "")
	rows := map[string]bench.Row{}
	ended := m.run("bench", "--quick", "density", "wake", "neighbours", "capacity", "--json")
	if ended.code > 1 { // 1 is a missed target, as is likely beside other tests
		t.Fatal(ended)
	}
	for line := range strings.Lines(ended.out) {
		var r bench.Row
		if err := choir.DecodeStrict([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		rows[r.Bench+" "+r.Case] = r
	}
	for _, name := range []string{
		"density each of 3 computers, idle", "density each of 3 computers, hibernated",
		"wake idle", "wake hibernated", "wake hibernated, until a terminal is open",
		"neighbours beside greed for processors", "neighbours beside greed for memory", "neighbours beside greed for disk", "neighbours beside greed for files and events", "neighbours beside greed for output",
		"capacity a request in a flood for others", "capacity a terminal in a flood for others",
	} {
		// All processes of the machine that began meanwhile count as memory, those of other tests too,
		// and some of them end before the second look.
		if r := rows[name]; r.N == 0 || r.Failures > 0 || r.Skipped != "" || r.Median <= 0 && r.Bench != "density" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
