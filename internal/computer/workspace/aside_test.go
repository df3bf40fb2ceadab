package workspace

import (
	"context"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
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

// TestGoingBackGivesBackWhatWasThrownAwaySince throws away what no snapshot holds, and
// goes back to when it was there, and to when it was not.
func TestGoingBackGivesBackWhatWasThrownAwaySince(t *testing.T) {
	l := newLab(t, smallHold)
	l.write("p/x", "0")
	earlier := l.head()
	large := strings.Repeat("x", 4<<10)
	l.outside("p/large", large)
	l.write("p/x", "1")
	then, target := l.head(), must(l.LastSnapshot(l.within()))(t)
	thrown := must(l.Discard(l.within(), choir.RoleShell, []Discarding{{Path: "p/large"}}))(t)[0]
	now := l.scanned()
	if none := must(l.ThrownSince(l.within(), earlier, now))(t); len(none) != 0 {
		t.Errorf("it was not there then, and comes back: %+v", none)
	}
	back := must(l.ThrownSince(l.within(), then, now))(t)
	if len(back) != 1 || back[0].ID != thrown.ID || back[0].From != "p/large" {
		t.Fatalf("what comes back is %+v", back)
	}
	// The note of what stays in the trash stays with it.
	note := trashDir + "/" + string(thrown.ID) + "/from"
	for _, c := range []struct {
		back []Aside
		kept bool
	}{{nil, true}, {back, false}} {
		root := must(l.KeepNotes(l.within(), target, now, c.back))(t)
		if e := must(l.Lookup(l.within(), root, note))(t); (e != nil) != c.kept {
			t.Errorf("the note is %+v, while %v comes back", e, c.back)
		}
	}
}

// TestTheWayOfARollbackIsCleared keeps in the trash what was in the way of it.
func TestTheWayOfARollbackIsCleared(t *testing.T) {
	l := newLab(t, smallHold)
	l.write("p/main.go", "one\n")
	base := must(l.LastSnapshot(l.within()))(t)
	same, keep, err := l.ClearWay(l.within(), l.client, "", base, l.scanned(), []string{"mine"})
	if err != nil || same.Root != base || !slices.Equal(keep, []string{"mine"}) {
		t.Errorf("nothing was in the way: %v, %v", keep, err)
	}
	l.outside("p/main.go", strings.Repeat("x", 4<<10))
	found := l.scanned()
	unlock := must(l.Lock(l.within()))(t)
	defer unlock()
	if now, keep, err := l.ClearWay(l.within(), l.client, "q", base, found, nil); err != nil || now.Root != found.Root || len(keep) > 0 || !l.exists("p/main.go") {
		t.Errorf("it was moved out of the way of another scope: %v, %v", keep, err)
	}
	now, keep, err := l.ClearWay(l.within(), l.client, "p", base, found, []string{"mine"})
	if err != nil || l.exists("p/main.go") || now.Root == found.Root {
		t.Errorf("it is still in the way: %v", err)
	}
	if len(keep) != 3 || keep[0] != "mine" || !l.exists(keep[1]) || !l.exists(keep[2]+"/item/main.go") {
		t.Errorf("what stays is %v", keep)
	}
}

func TestWhatWasMadeBelowAPathIsUndone(t *testing.T) {
	l := newLab(t)
	l.write("p/a", "1")
	l.write("q/a", "1")
	before := l.scanned().Root
	for _, path := range []string{"p/a", "p/b/c", "q/a"} {
		l.outside(path, "2 by a failure")
	}
	unlock := must(l.Lock(l.within()))(t)
	defer unlock()
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := l.UndoBelow(gone, before, "p", nil); err != nil {
		t.Fatal(err)
	}
	if l.has("p/a") != "1" || l.exists("p/b") || l.has("q/a") == "1" {
		t.Error("it was not undone below the path, or elsewhere too")
	}
}
