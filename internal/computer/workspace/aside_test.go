package workspace

import (
	"slices"
	"strings"
	"testing"

	"choiros/internal/snapshot"
)

// smallHold is so little that a long line is too much for a snapshot.
func smallHold(cfg *Config) {
	cfg.Hold = snapshot.Limits{FileBytes: 1 << 10, TreeBytes: 1 << 30, Entries: 20_000}
}

// TestWhatIsInTheWayIsMovedAsideAndPutBack has a file that no snapshot holds in the
// place of one that a snapshot has.
func TestWhatIsInTheWayIsMovedAsideAndPutBack(t *testing.T) {
	l := newLab(t, smallHold)
	l.write("p/main.go", "one\n")
	then := must(l.LastSnapshot(l.within()))(t)
	large := strings.Repeat("x", 4<<10)
	l.outside("p/main.go", large)
	l.outside("p/beside", large)
	now := l.scanned()
	if !slices.Equal(slices.Sorted(slices.Values(now.Left)), []string{"p/beside", "p/main.go"}) {
		t.Fatalf("no snapshot holds %v", now.Left)
	}
	unlock := must(l.Lock(l.within()))(t)
	defer unlock()
	way := must(l.InTheWay(l.within(), then, now))(t)
	if !slices.Equal(way, []string{"p/main.go"}) {
		t.Fatalf("in the way: %v", way)
	}
	aside := must(l.MoveAside(l.within(), l.client, way))(t)
	if len(aside) != 1 || aside[0].From != "p/main.go" || l.exists("p/main.go") || l.has(aside[0].Item) != large {
		t.Fatalf("moved aside: %+v", aside)
	}
	for range 2 { // as after a crash in between
		if err := putBack(l.within(), l.client, aside); err != nil {
			t.Fatal(err)
		}
		if l.has("p/main.go") != large || l.exists(aside[0].Item) {
			t.Error("it is not where it was")
		}
	}
}

// TestPutBackTakesNobodysPlace puts something back whose place was taken meanwhile.
func TestPutBackTakesNobodysPlace(t *testing.T) {
	l := newLab(t)
	l.write("x", "one\n")
	unlock := must(l.Lock(l.within()))(t)
	aside := must(l.MoveAside(l.within(), l.client, []string{"x", "never there"}))(t)
	unlock()
	l.outside("x", "two\n")
	if err := putBack(l.within(), l.client, aside); err != nil {
		t.Fatal(err)
	}
	items := must(l.Trash(l.within()))(t)
	if l.has("x") != "two\n" || len(items) != 1 || items[0].From != "x" || l.has(items[0].File.Path) != "one\n" {
		t.Errorf("x is %q, in the trash are %+v", l.has("x"), items)
	}
}
