package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/guest"
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

// refusingLog refuses events of one type with an error. An error of nil refuses none.
type refusingLog struct {
	Log
	refused choir.Type
	err     error
}

func (l *refusingLog) Append(ctx context.Context, role choir.Role, drafts ...choir.Draft) ([]choir.Receipt, error) {
	if l.err != nil && drafts[0].Type == l.refused {
		return nil, l.err
	}
	return l.Log.Append(ctx, role, drafts...)
}

// refuse makes the log of the workspace refuse events of a type.
func (l *lab) refuse(refused choir.Type, code choir.Code) *refusingLog {
	log := &refusingLog{Log: l.tree.log, refused: refused, err: choir.E("lab", code, "refused")}
	l.tree.log = log
	return log
}

// carryOut carries out an intent as the holder of the tree.
func (l *lab) carryOut(client *guest.Client, in Intent) error {
	l.t.Helper()
	unlock := must(l.Lock(l.within()))(l.t)
	defer unlock()
	_, err := l.CarryOut(l.within(), client, in)
	return err
}

// TestAnIntentThatTheLogRefusesIsTakenBack refuses the events of an intent in turn: its file
// events, and its main event after them.
func TestAnIntentThatTheLogRefusesIsTakenBack(t *testing.T) {
	for _, test := range []struct {
		name, reason string
		refused      choir.Type
		code         choir.Code
	}{
		{"no space", "", choir.TypeTimelineRewound, choir.CodeNoSpace},
		{"busy", "", choir.TypeTimelineRewound, choir.CodeBusy},
		{"conflict", "", choir.TypeTimelineRewound, choir.CodeConflict},
		{"no space for the changes", "taken", choir.TypeFileWritten, choir.CodeNoSpace},
		{"no space after the changes", "taken", choir.TypeTimelineRewound, choir.CodeNoSpace},
		{"conflict after the changes", "taken", choir.TypeTimelineRewound, choir.CodeConflict},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLab(t)
			l.write("x", "one")
			then := must(l.LastSnapshot(l.within()))(t)
			l.write("x", "two")
			l.write("y", "two")
			before := l.scanned().Root
			in := l.goingBack(before, then)
			in.Reason = test.reason
			l.refuse(test.refused, test.code)
			if err := l.carryOut(l.client, in); choir.CodeOf(err) != test.code {
				t.Errorf("refused with %v", err)
			}
			if l.has("x") != "two" || l.has("y") != "two" {
				t.Error("the workspace is not as before")
			}
			if last := must(l.LastSnapshot(l.within()))(t); last != before || l.scanned().Root != before {
				t.Errorf("the log ends with the tree %s, not %s", last, before)
			}
			l.wantNoIntent()
		})
	}
}

// TestAnIntentWhoseOutcomeIsUnknownStays has a log that accepts nothing more until the
// next start, and an intent that is to be finished whatever the log says.
func TestAnIntentWhoseOutcomeIsUnknownStays(t *testing.T) {
	for name, test := range map[string]struct {
		code    choir.Code
		lasting bool
	}{
		"unavailable": {choir.CodeUnavailable, false},
		"corrupt":     {choir.CodeCorrupt, false},
		"internal":    {choir.CodeInternal, false},
		"lasting":     {choir.CodeNoSpace, true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.write("x", "one")
			then := must(l.LastSnapshot(l.within()))(t)
			l.write("x", "two")
			in := l.goingBack(l.scanned().Root, then)
			in.Lasting = test.lasting
			log := l.refuse(choir.TypeTimelineRewound, test.code)
			if err := l.carryOut(l.client, in); choir.CodeOf(err) != test.code {
				t.Errorf("refused with %v", err)
			}
			if unfinished := must(l.UnfinishedIntent())(t); !unfinished || l.has("x") != "one" {
				t.Errorf("unfinished %v, and x is %q", unfinished, l.has("x"))
			}
			log.err = nil
			if found := must(l.FinishIntent(l.within(), l.client))(t); !found {
				t.Error("the next start finds no intent")
			}
			if last := must(l.LastSnapshot(l.within()))(t); last != then {
				t.Errorf("the log ends with the tree %s, not %s", last, then)
			}
			l.wantNoIntent()
		})
	}
}

// TestAFoundTreeIsRecordedOnceAndThenReplaced interrupts the intent of a workspace that a
// power cut left behind the log: before it is restored, and after its event is in the log.
func TestAFoundTreeIsRecordedOnceAndThenReplaced(t *testing.T) {
	l := newLab(t)
	l.write("x", "acknowledged")
	then := must(l.LastSnapshot(l.within()))(t)
	l.outside("x", "torn")
	found := l.scanned().Root
	in := l.goingBack(found, then)
	in.Found, in.Lasting = "power_cut", true
	gone := guest.NewClient(func(context.Context) (net.Conn, error) { return nil, errors.New("the sandbox has ended") })
	if err := l.carryOut(gone, in); err == nil {
		t.Fatal("carried out without a sandbox")
	}
	if last := must(l.LastSnapshot(l.within()))(t); last != found || l.has("x") != "torn" {
		t.Errorf("the log ends with the tree %s, and x is %q", last, l.has("x"))
	}
	raw := must(os.ReadFile(filepath.Join(l.cfg.Dir, IntentFile)))(t)
	for range 2 {
		if ok := must(l.FinishIntent(l.within(), l.client))(t); !ok {
			t.Error("no intent was found")
		}
		if last := must(l.LastSnapshot(l.within()))(t); last != then || l.has("x") != "acknowledged" {
			t.Errorf("the log ends with the tree %s, and x is %q", last, l.has("x"))
		}
		// A crash before the file is removed.
		if err := os.WriteFile(filepath.Join(l.cfg.Dir, IntentFile), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kept, _, err := l.log.SnapshotAt(l.within(), must(l.log.Event(l.within(), in.Draft.ID))(t).Seq-1)
	if err != nil || kept.Snapshot != found || kept.Reason != "power_cut" {
		t.Errorf("before it the log has %+v, %v", kept, err)
	}
}
