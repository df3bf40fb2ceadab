package workspace

import (
	"context"
	"sync/atomic"
	"time"
)

// terminalChanges records what people change by way of terminals: it scans the tree
// when one was used and has gone quiet, and appends what changed as the owner's. It
// is a service.
type terminalChanges struct {
	tree  *tree
	moves chan struct{} // holds a token when a terminal was used since the last look
	used  atomic.Bool   // one was used since the last look of anybody
}

func newTerminalChanges(t *tree) *terminalChanges {
	return &terminalChanges{tree: t, moves: make(chan struct{}, 1)}
}

func (*terminalChanges) String() string { return "look at what terminals change" }

// terminalUsed says that something was typed or printed. It does not block.
func (tc *terminalChanges) terminalUsed() {
	tc.used.Store(true)
	select {
	case tc.moves <- struct{}{}:
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
func (tc *terminalChanges) Serve(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tc.moves:
		}
		tc.awaitQuiet(ctx)
		began := time.Now()
		if err := tc.record(ctx); err != nil && ctx.Err() == nil {
			tc.tree.cfg.Logger.Warn("no look at what a terminal changed", "computer", tc.tree.cfg.Computer, "error", err)
		}
		took := time.Since(began)
		rest(ctx, max(lookRate-took, restFor*took))
	}
}

// awaitQuiet waits until the terminals are quiet, but not for ever.
func (tc *terminalChanges) awaitQuiet(ctx context.Context) {
	enough := time.NewTimer(lookRate)
	defer enough.Stop()
	for {
		silence := time.NewTimer(quiet)
		select {
		case <-tc.moves:
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

// record appends what changed as the owner's. While a task works, the looks around
// its tool calls do that: see Workspace.ByTerminal.
func (tc *terminalChanges) record(ctx context.Context) error {
	unlock, err := tc.tree.LockIdle(ctx)
	if err != nil || unlock == nil {
		return err
	}
	defer unlock()
	tc.used.Store(false)
	now, _, err := tc.tree.Scan(ctx)
	if err != nil {
		return err
	}
	return tc.tree.RecordOwners(ctx, now)
}

// byTerminal reports whether what changed before a tool call is the owner's: nothing
// of the task runs between two calls but what it left in the background, and a
// terminal was used. What the owner writes during a call cannot be told from what
// the call writes.
func (tc *terminalChanges) byTerminal(reason string) bool {
	return tc.used.Swap(false) && reason == "tool_called"
}

// rest waits for some time, or the end of the context.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
