package workspace

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
)

// goingBack is an intent to make the tree a snapshot again, as a rewind has it.
func (l *lab) goingBack(before, target choir.Digest) Intent {
	l.t.Helper()
	done := must(l.events.Draft(choir.TimelineRewound{ToSeq: l.head(), Snapshot: target, Before: before, Files: 1}))(l.t)
	return Intent{Before: before, Target: target, Role: choir.RoleCLI, Draft: done}
}

// wantNoIntent fails the test when an intent is still to be finished.
func (l *lab) wantNoIntent() {
	l.t.Helper()
	if unfinished, err := l.UnfinishedIntent(); unfinished || err != nil {
		l.t.Errorf("an intent is left: %v, %v", unfinished, err)
	}
}

func TestAnIntentIsCarriedOutAndTold(t *testing.T) {
	l := newLab(t)
	l.write("d/x", "one")
	then := must(l.LastSnapshot(l.within()))(t)
	l.write("d/x", "two")
	l.write("d/y", "two")
	before := l.scanned().Root
	unlock := must(l.Lock(l.within()))(t)
	receipt := must(l.CarryOut(l.within(), l.client, l.goingBack(before, then)))(t)
	unlock()
	if l.has("d/x") != "one" || l.exists("d/y") || l.scanned().Root != then {
		t.Error("the tree is not what the intent says")
	}
	if e := must(l.log.At(l.within(), receipt.Seq))(t); e.Type != choir.TypeTimelineRewound || e.Source != choir.SourceUser {
		t.Errorf("told as %s by %s", e.Type, e.Source)
	}
	l.wantNoIntent()
}

// TestAnIntentThatIsStoppedLeavesTheTreeAsItWas stops an intent after something was
// moved aside for it.
func TestAnIntentThatIsStoppedLeavesTheTreeAsItWas(t *testing.T) {
	l := newLab(t, smallHold)
	l.write("p/main.go", "one\n")
	l.write("p/other", "1\n")
	then := must(l.LastSnapshot(l.within()))(t)
	large := strings.Repeat("x", 4<<10)
	l.outside("p/main.go", large)
	now := l.scanned()
	if err := l.RecordOwners(l.within(), now); err != nil {
		t.Fatal(err)
	}
	unlock := must(l.Lock(l.within()))(t)
	way := must(l.InTheWay(l.within(), then, now))(t)
	in := l.goingBack(now.Root, then)
	in.Out = must(l.MoveAside(l.within(), l.client, way))(t)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	head := l.head()
	if _, err := l.CarryOut(stopped, l.client, in); err == nil || len(in.Out) != 1 {
		t.Errorf("it was not stopped: %v", in.Out)
	}
	unlock()
	if l.has("p/main.go") != large || l.has("p/other") != "1\n" || l.head() != head {
		t.Errorf("the tree is not as it was, or %d events are told", l.head()-head)
	}
	if items := must(l.Trash(l.within()))(t); len(items) != 0 {
		t.Errorf("in the trash: %+v", items)
	}
	l.wantNoIntent()
}

// TestAnIntentOfASessionThatWasKilledIsFinishedOnce has the file and half of the
// change, as a crash after the first path leaves them.
func TestAnIntentOfASessionThatWasKilledIsFinishedOnce(t *testing.T) {
	l := newLab(t)
	l.write("x", "one")
	then := must(l.LastSnapshot(l.within()))(t)
	l.write("x", "two")
	l.write("y", "two")
	in := l.goingBack(l.scanned().Root, then)
	raw := must(json.Marshal(in))(t)
	if err := os.WriteFile(filepath.Join(l.cfg.Dir, IntentFile), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(l.dir, "y")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		if found, err := l.FinishIntent(l.within(), l.client); found != want || err != nil {
			t.Errorf("found %v, %v, want %v", found, err, want)
		}
	}
	if l.has("x") != "one" || l.exists("y") {
		t.Error("the tree is not what the intent says")
	}
	if e := must(l.log.At(l.within(), l.head()))(t); e.ID != in.Draft.ID {
		t.Errorf("the last event is %s", e.Type)
	}
	l.wantNoIntent()
}
