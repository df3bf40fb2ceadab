package computer

import (
	"context"
	"sync/atomic"
	"time"
)

// hands notices what a person does in the workspace by way of terminals: it
// looks at the tree when one was used and has gone quiet, and records what
// changed as the owner's. It is a service.
type hands struct {
	c     *Computer
	moves chan struct{} // holds a token when a terminal was used since the last look
	used  atomic.Bool   // one was used since the last look of anybody
}

func newHands(c *Computer) *hands { return &hands{c: c, moves: make(chan struct{}, 1)} }

func (*hands) String() string { return "look at what terminals change" }

// moved says that something was typed or printed. It does not block.
func (h *hands) moved() {
	h.used.Store(true)
	select {
	case h.moves <- struct{}{}:
	default:
	}
}

// When to look: after this much silence, or while there is none this long after
// the first sign; and then at rest, for so many times as long as the look took.
const (
	quiet    = 300 * time.Millisecond
	lookRate = 2 * time.Second
	restFor  = 10
)

// Serve looks until the context ends.
func (h *hands) Serve(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-h.moves:
		}
		h.settle(ctx)
		began := time.Now()
		if err := h.look(ctx); err != nil && ctx.Err() == nil {
			h.c.cfg.Log.Warn("no look at what a terminal changed", "computer", h.c.cfg.ID, "error", err)
		}
		took := time.Since(began)
		wait(ctx, max(lookRate-took, restFor*took))
	}
}

// settle waits until the terminals are quiet, but not for ever.
func (h *hands) settle(ctx context.Context) {
	enough := time.NewTimer(lookRate)
	defer enough.Stop()
	for {
		silence := time.NewTimer(quiet)
		select {
		case <-h.moves:
			silence.Stop()
			continue
		case <-silence.C:
		case <-enough.C:
		case <-ctx.Done():
		}
		silence.Stop()
		return
	}
}

// look records what changed as the owner's. While a task works, its own looks
// around tool calls do that: see Computer.theirs.
func (h *hands) look(ctx context.Context) error {
	unlock, err := h.c.workspace.LockIdle(ctx)
	if err != nil || unlock == nil {
		return err
	}
	defer unlock()
	h.used.Store(false)
	now, _, err := h.c.workspace.Scan(ctx)
	if err != nil {
		return err
	}
	return h.c.workspace.RecordOwners(ctx, now)
}

// theirs says whether what changed before a tool call is the owner's: nothing of
// the task runs between two calls but what it left in the background, and a
// terminal was used. What the owner writes during a call cannot be told from what
// the call writes.
func (h *hands) theirs(reason string) bool {
	return h.used.Swap(false) && reason == "tool_called"
}

// wait for some time, or the end of the context.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
