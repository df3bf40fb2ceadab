package taskrunner

import (
	"context"
	"errors"
	"sync"
	"time"
)

// The cancellation causes of a task's context when one of its times is used up.
var (
	errBudget = errors.New("the time budget is used up")
	errWaited = errors.New("the time for the model's answers is used up")
)

// clock measures a task's time: that of its work, and that of waiting for its model, which
// do not count for each other. When one is used up it cancels the task's context.
type clock struct {
	cancel context.CancelCauseFunc

	mu      sync.Mutex // guards all below
	left    [2]time.Duration
	running int // index in left
	frozen  bool
	since   time.Time
	timer   *time.Timer // nil while frozen
}

// The indices of a clock's times, and their causes.
const (
	working = iota
	waiting
)

var causes = [2]error{working: errBudget, waiting: errWaited}

// startClock starts the clock of a task's work, and returns the context that it cancels.
// The caller stops it.
func startClock(ctx context.Context, work, wait time.Duration) (context.Context, *clock) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &clock{cancel: cancel, left: [2]time.Duration{work, wait}, since: time.Now()}
	c.run(working)
	return ctx, c
}

// run lets the time with an index run, once the clock is not frozen. The caller holds the
// lock, or is the only one.
func (c *clock) run(index int) {
	c.running = index
	if !c.frozen {
		c.since = time.Now()
		c.timer = time.AfterFunc(c.left[index], func() { c.cancel(causes[index]) })
	}
}

// hold stops the time that runs. The caller holds the lock.
func (c *clock) hold() {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
		c.left[c.running] = max(0, c.left[c.running]-time.Since(c.since))
	}
}

// change lets another time run.
func (c *clock) change(to int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold()
	c.run(to)
}

// freeze stops the clock's times, or lets them run on.
func (c *clock) freeze(frozen bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold()
	c.frozen = frozen
	c.run(c.running)
}

// spend takes something off the time of the work.
func (c *clock) spend(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold()
	c.left[working] = max(0, c.left[working]-d)
	c.run(c.running)
}

// workLeft returns what is left of the time of the work.
func (c *clock) workLeft() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running != working || c.timer == nil {
		return c.left[working]
	}
	return max(0, c.left[working]-time.Since(c.since))
}

// stop ends the clock and the context that it made.
func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold()
	c.frozen = true
	c.cancel(nil)
}
