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
