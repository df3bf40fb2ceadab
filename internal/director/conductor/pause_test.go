package conductor

import (
	"context"
	"errors"
	"testing"

	"choiros/internal/choir"
)

// TestAPausedRunWaitsAndItsTimeStandsStill, gives up its place meanwhile, and can be stopped.
func TestAPausedRunWaitsAndItsTimeStandsStill(t *testing.T) {
	rec := newRecord(choir.Event{Run: pastRun, Time: 1000}, choir.PromptSubmitted{Text: "x"}, nil)
	slots := make(chan struct{}, 1)
	r := &run{rec: rec, slot: &slot{slots: slots}}
	if err := errors.Join(r.slot.acquire(t.Context()), r.waitWhilePaused(t.Context())); err != nil || len(slots) != 1 {
		t.Fatalf("not paused: %v, %d places taken", err, len(slots))
	}
	rec.apply(choir.Event{Time: 5000}, &choir.RunPaused{})
	waited := make(chan error, 1)
	go func() { waited <- r.waitWhilePaused(t.Context()) }()
	slots <- struct{}{} // another run takes the place
	rec.apply(choir.Event{Time: 65000}, &choir.RunResumed{})
	<-slots
	if err := <-waited; err != nil || len(slots) != 1 {
		t.Errorf("it went on with %v, %d places taken", err, len(slots))
	}
	if worked := rec.worked(66000); worked != 5000 {
		t.Errorf("it worked %d ms, want the 4 s before the pause and one after it", worked)
	}
	rec.apply(choir.Event{Time: 66000}, &choir.RunPaused{})
	ctx, stop := context.WithCancelCause(t.Context())
	go func() { waited <- r.waitWhilePaused(ctx) }()
	stop(errStopped)
	if err := <-waited; !errors.Is(err, errStopped) || len(slots) != 0 {
		t.Errorf("stopped while paused: %v, %d places taken", err, len(slots))
	}
}

// TestTheTimeOfARunStandsStillWhileAResultWaits for the owner, until that is answered or the task
// is stopped.
func TestTheTimeOfARunStandsStillWhileAResultWaits(t *testing.T) {
	for name, end := range map[string]choir.Payload{"answered": &choir.EffectAnswered{}, "stopped": &choir.TaskReturned{}} {
		rec := newRecord(choir.Event{Run: pastRun, Time: 1000}, choir.PromptSubmitted{Text: "x"}, nil)
		rec.apply(choir.Event{Time: 5000, Task: pastRun}, &choir.EffectHeld{})
		if worked := rec.worked(65000); worked != 4000 {
			t.Errorf("%s: it worked %d ms while the result waited", name, worked)
		}
		rec.apply(choir.Event{Time: 65000, Task: pastRun}, end)
		if worked := rec.worked(66000); worked != 5000 {
			t.Errorf("%s: it worked %d ms, want 5 s", name, worked)
		}
	}
}
