package workspace

import (
	"context"
	"sync/atomic"
	"time"
)

// terminalChanges records changes that people make through terminals: when terminals
// have been used and are quiet again, it scans the tree and appends the changes as the
// owner's. It is a service.
type terminalChanges struct {
	tree  *tree
	moves chan struct{} // holds a token when a terminal was used since the last look
	used  atomic.Bool   // one was used since the last look of anybody
}

func newTerminalChanges(t *tree) *terminalChanges {
	return &terminalChanges{tree: t, moves: make(chan struct{}, 1)}
}

func (*terminalChanges) String() string { return "look at what terminals change" }

// terminalUsed records that a terminal had input or output. It does not block.
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

// Serve scans after terminal use until the context ends.
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

// awaitQuiet waits until the terminals are quiet, at most for lookRate.
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

// record scans the tree and appends the changes as the owner's. While a task changes it, it
// does nothing; the scans around tool calls record changes then, see
// Workspace.ByTerminal.
func (tc *terminalChanges) record(ctx context.Context) error {
	unlock, err := tc.tree.lockUnwritten(ctx)
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

// byTerminal reports whether the changes found before a tool call are the owner's: a
// terminal was used since the last scan, and between two calls nothing of the task runs
// except its background processes. It clears the record of that use. Changes by the
// owner during a call are counted as the call's.
func (tc *terminalChanges) byTerminal(reason string) bool {
	return tc.used.Swap(false) && reason == "tool_called"
}

// rest waits for a duration, or until the context ends.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
