package recovery

import (
	"context"
	"sync"
	"sync/atomic"
)

// gate admits any number of appends at once, until it is shut. Passing an open one
// costs one atomic operation and never blocks, so that appends which come at the
// same time share a sync.
type gate struct {
	inside  atomic.Int64  // appends inside; less bias while it is shut
	emptied chan struct{} // room for one: the last append has left a gate that is shut

	mu     sync.Mutex    // guards opened
	opened chan struct{} // closed when the gate opens again; nil while it is open
}

// bias is more than ever are inside.
const bias = 1 << 40

// enterGate admits the caller, or gives the error of its context.
func (g *gate) enterGate(ctx context.Context) error {
	for g.inside.Add(1) <= 0 {
		g.leaveGate()
		if err := g.waitOpen(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (g *gate) leaveGate() {
	if g.inside.Add(-1) != -bias {
		return
	}
	select {
	case g.emptied <- struct{}{}:
	default: // shut looks at the number itself
	}
}

func (g *gate) waitOpen(ctx context.Context) error {
	g.mu.Lock()
	opened := g.opened
	g.mu.Unlock()
	if opened == nil {
		return nil
	}
	select {
	case <-opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// shut admits nobody any more and returns when nobody is inside, or with the
// error of the context. Either way the caller, who is the only one, calls reopen.
func (g *gate) shut(ctx context.Context) error {
	g.mu.Lock()
	g.opened = make(chan struct{})
	g.mu.Unlock()
	g.inside.Add(-bias)
	// Who comes now and turns back is inside for a moment: it empties the gate anew.
	for g.inside.Load() != -bias {
		select {
		case <-g.emptied:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}

func (g *gate) reopen() {
	g.inside.Add(bias)
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.opened)
	g.opened = nil
}
