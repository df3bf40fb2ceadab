package appender

import (
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

func newTestID() (choir.ID, error) { return choir.NewID(choir.TimeOf(time.Now()), rand.Reader) }

// must ends the test at an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// newLog opens a log in a folder of the test's own.
func newLog(t *testing.T) (*eventstore.Store, *Appender) {
	t.Helper()
	log := must(eventstore.Open(t.Context(), t.TempDir(), eventstore.Config{
		Computer: must(newTestID())(t), User: must(newTestID())(t), Now: func() choir.Time { return choir.TimeOf(time.Now()) },
	}))(t)
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return log, New(log, must(newTestID())(t), newTestID, slog.New(slog.DiscardHandler))
}

// TestAnEventIsInTheLogWhoeverTookItsId has a guest hold the id of an event, and
// the control plane append the event, twice.
func TestAnEventIsInTheLogWhoeverTookItsId(t *testing.T) {
	log, events := newLog(t)
	ctx, fork := t.Context(), must(newTestID())(t)
	id := choir.DeriveID(fork, "forked")
	squat := must(choir.NewDraft(id, choir.PlanRefused{Problems: []string{"mine"}}))(t)
	must(log.Append(ctx, choir.RoleDirector, squat.ForRun(must(newTestID())(t), "")))(t)
	say := func(seq uint64) ([]choir.Receipt, error) {
		return events.AppendAs(ctx, choir.RoleShell, must(choir.NewDraft(id, choir.TimelineForked{Computer: fork, Seq: seq}))(t))
	}
	first := must(say(1))(t)[0]
	if first.ID == id || first.Duplicate {
		t.Errorf("%+v", first)
	}
	if again := must(say(1))(t)[0]; again.Seq != first.Seq || again.ID != first.ID || !again.Duplicate {
		t.Errorf("said twice: %+v, then %+v", first, again)
	}
	_, err := say(2)
	if choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("other words: %v", err)
	}
	if UnlessSaid(err, choir.RoleShell, "timeline.forked") != nil || UnlessSaid(err, choir.RoleShell, "computer.exported") == nil || UnlessSaid(err, choir.RoleControl, "timeline.forked") == nil {
		t.Errorf("what the error says is %+v", choir.FirstOf(err))
	}
	if head, _ := log.Head(); head != first.Seq {
		t.Errorf("%d events after the first", head-first.Seq)
	}
}

func TestAnAppendIsWholeOrNot(t *testing.T) {
	log, events := newLog(t)
	said := choir.SettingChanged{Key: "a", Value: "x"}
	if _, err := events.Append(t.Context(), choir.RoleShell, said, choir.SettingChanged{}); err == nil {
		t.Error("a setting without a name was appended")
	}
	if head, _ := log.Head(); head != 0 {
		t.Errorf("%d events of an append that was refused", head)
	}
	if got := must(events.Append(t.Context(), choir.RoleShell, said, said))(t); len(got) != 2 || got[0].ID == got[1].ID {
		t.Errorf("%+v", got)
	}
}
