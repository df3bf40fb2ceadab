package hibernation

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"choiros/internal/choir"
)

// cold is a lab whose computer freezes after a quarter of the time in which it hibernates.
type cold struct {
	*lab
	frozen         atomic.Bool
	freezes, thaws atomic.Int64
	refuses        error // of freezing
	thawing        chan struct{}
	thawWaits      bool
}

const freezing = idle / 4

func inCold(t *testing.T, f func(c *cold)) {
	t.Helper()
	inLab(t, func(l *lab) {
		c := &cold{lab: l, thawing: make(chan struct{})}
		l.cfg.FreezeAfter = freezing
		l.cfg.Freeze = func(context.Context, choir.ID, *machine) error {
			defer l.alone()()
			c.freezes.Add(1)
			c.frozen.Store(c.refuses == nil)
			return c.refuses
		}
		l.cfg.Thaw = func(context.Context, choir.ID, *machine) error {
			defer l.alone()()
			if c.thawWaits {
				<-c.thawing
			}
			c.thaws.Add(1)
			c.frozen.Store(false)
			return nil
		}
		_, release := l.use()
		release()
		f(c)
	})
}

// wantCold fails the test if the computer is not as it should be.
func (c *cold) wantCold(what string, frozen bool, freezes, thaws int64) {
	c.t.Helper()
	n := c.Counts()
	if c.frozen.Load() != frozen || n.Frozen == 1 != frozen || c.Frozen(one) != frozen || c.freezes.Load() != freezes || c.thaws.Load() != thaws {
		c.t.Errorf("%s: frozen %t, frozen %d times and thawed %d times, %+v; want %t, %d, %d", what, c.frozen.Load(), c.freezes.Load(), c.thaws.Load(), n, frozen, freezes, thaws)
	}
}

func TestAnIdleComputerIsFrozenAndThawedForTheFirstUse(t *testing.T) {
	inCold(t, func(c *cold) {
		c.pass(freezing - time.Second)
		c.wantCold("not idle long enough", false, 0, 0)
		c.pass(time.Second)
		c.wantCold("idle", true, 1, 0)
		_, release := c.use()
		c.wantCold("in use", false, 1, 1)
		c.pass(freezing)
		c.wantCold("in use for long", false, 1, 1)
		release()
		c.pass(freezing)
		c.wantCold("idle again", true, 2, 1)
		c.pass(freezing) // what thawed by itself meanwhile is frozen again
		c.wantCold("still idle", true, 3, 1)
		c.want("still idle", true, 1, 0)
		c.pass(idle)
		c.want("idle for long", false, 1, 1)
		if n := c.Counts(); n.Frozen != 0 || n.Hibernated != 1 || n.Thawed != 1 {
			t.Errorf("a hibernated computer: %+v", n)
		}
		_, release = c.use()
		release()
		c.want("woken", true, 2, 1)
	})
}

func TestABusyComputerIsNotFrozen(t *testing.T) {
	inCold(t, func(c *cold) {
		c.busy = func(choir.ID) string { return "a run is open" }
		c.pass(freezing)
		c.wantCold("busy", false, 0, 0)
		c.busy = nil
		c.pass(freezing)
		c.wantCold("no longer busy", true, 1, 0)
		c.busy = func(choir.ID) string { return "a page of it is open" }
		c.pass(time.Second)
		c.wantCold("busy though frozen", false, 1, 1)
	})
}

func TestManyUsesThawOnce(t *testing.T) {
	inCold(t, func(c *cold) {
		c.pass(freezing)
		c.thawWaits = true
		const uses = 100
		ended := make(chan error, uses)
		for range uses {
			go func() {
				_, release, err := c.Use(c.t.Context(), one)
				if err == nil {
					if c.frozen.Load() {
						err = errors.New("it is frozen")
					}
					release()
				}
				ended <- err
			}()
		}
		close(c.thawing)
		for range uses {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		c.wantCold("used", false, 1, 1)
	})
}

func TestWhatCannotBeFrozenIsNotTriedAgainBeforeItIsUsed(t *testing.T) {
	inCold(t, func(c *cold) {
		c.refuses = errors.New("no freezer here")
		c.pass(freezing)
		c.pass(time.Second)
		c.wantCold("refused", false, 1, 0)
		_, release := c.use()
		release()
		c.pass(freezing)
		c.wantCold("refused again", false, 2, 0)
		c.pass(idle)
		c.want("it hibernates all the same", false, 1, 1)
	})
}

func TestAComputerThatIsStartingIsFrozenLater(t *testing.T) {
	inCold(t, func(c *cold) {
		c.refuses = choir.E("test", choir.CodeConflict, "it is being started")
		c.pass(freezing)
		c.wantCold("not yet", false, 1, 0)
		c.refuses = nil
		c.pass(time.Second)
		c.wantCold("started", true, 2, 0)
	})
}

func TestComputersThatNeverHibernateAreFrozen(t *testing.T) {
	inCold(t, func(c *cold) {
		c.cfg.After = 0
		c.pass(24 * time.Hour)
		c.wantCold("idle", true, 1, 0)
		c.want("idle", true, 1, 0)
	})
}
