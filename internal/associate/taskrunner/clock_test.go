package taskrunner

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestWaitingForTheModelIsNoWork has a model that answers after longer than all the work
// may take.
func TestWaitingForTheModelIsNoWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		work, wait time.Duration
		want       error
		at         time.Duration // when the clock ends it
	}{
		{"work", 10 * time.Second, 100 * time.Second, errBudget, 30 * time.Second},
		{"wait", 30 * time.Second, 15 * time.Second, errWaited, 19 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, at := time.Now(), make(chan time.Duration, 1)
				ctx, clock := startClock(context.Background(), c.work, c.wait)
				defer clock.stop()
				context.AfterFunc(ctx, func() { at <- time.Since(began) })
				<-time.After(4 * time.Second)
				clock.change(waiting)
				<-time.After(20 * time.Second)
				if left := clock.workLeft(); left != c.work-4*time.Second {
					t.Errorf("%s of the work are left", left)
				}
				clock.change(working)
				if got := <-at; got != c.at || context.Cause(ctx) != c.want {
					t.Errorf("it ended after %s with %v", got, context.Cause(ctx))
				}
			})
		})
	}
}

// TestAFrozenClockStandsStill has the run of a task paused for longer than all its work may
// take, and its model's wait change to work meanwhile.
func TestAFrozenClockStandsStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, at := time.Now(), make(chan time.Duration, 1)
		ctx, clock := startClock(context.Background(), 10*time.Second, 5*time.Second)
		defer clock.stop()
		context.AfterFunc(ctx, func() { at <- time.Since(began) })
		var paused pauses
		defer paused.watch("run")()
		paused.set("run", true, 7)
		defer paused.add("run", clock)()
		<-time.After(time.Minute)
		clock.change(waiting)
		<-time.After(time.Minute)
		clock.change(working)
		if left := clock.workLeft(); left != 10*time.Second {
			t.Errorf("%s of the work are left", left)
		}
		paused.set("run", false, 9)
		paused.set("run", true, 7) // told once more, too late
		clock.spend(4 * time.Second)
		if got := <-at; got != 126*time.Second || context.Cause(ctx) != errBudget {
			t.Errorf("it ended after %s with %v", got, context.Cause(ctx))
		}
	})
}
