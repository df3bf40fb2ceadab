package supervisor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestAPaceIsSlowUntilItIsHurried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all paces
		pace, began := all.of("run"), time.Now()
		if err := pace.sleepUnlessHurried(t.Context(), time.Minute); err != nil || time.Since(began) != time.Minute {
			t.Errorf("it waited %v: %v", time.Since(began), err)
		}
		began = time.Now()
		time.AfterFunc(time.Second, func() { all.of("run").hurry() })
		for range 2 { // the wait that is under way, and each that follows
			if err := pace.sleepUnlessHurried(t.Context(), time.Minute); err != nil || time.Since(began) != time.Second {
				t.Errorf("hurried after a second, it waited %v: %v", time.Since(began), err)
			}
		}
		all.of("run").hurry()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := all.of("another").sleepUnlessHurried(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("another run that is stopped: %v", err)
		}
	})
}
