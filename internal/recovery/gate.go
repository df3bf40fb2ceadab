package recovery

import (
	"context"
	"sync"
	"sync/atomic"
)

// gate admits any number of appends at once until it is shut. Passing it while open is one atomic
// operation and never blocks, so that simultaneous appends share a sync.
type gate struct {
	inside  atomic.Int64  // number of admitted appends, minus bias while shut
	emptied chan struct{} // of capacity 1; signals that the last append left a shut gate

	mu     sync.Mutex    // guards opened
	opened chan struct{} // closed when the gate opens again; nil while open
}

// bias is more than the largest number of admitted appends.
const bias = 1 << 40

// enterGate admits an append, waiting while the gate is shut. It returns ctx's error if that ends
// first.
func (g *gate) enterGate(ctx context.Context) error {
	for g.inside.Add(1) <= 0 {
		g.leaveGate()
		if err := g.waitOpen(ctx); err != nil {
			return err
		}
	}
	return nil
}

// leaveGate ends an admitted append and signals emptied if it was the last inside a shut gate.
func (g *gate) leaveGate() {
	if g.inside.Add(-1) != -bias {
		return
	}
	select {
	case g.emptied <- struct{}{}:
	default: // shut looks at the number itself
	}
}

// waitOpen waits until the gate is open. It returns ctx's error if that ends first.
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

// shut closes the gate and waits until no append is inside. It returns ctx's error if that ends
// first. Only one caller may use it at a time, and calls reopen in any case.
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

// reopen opens the gate and wakes waiting appends.
func (g *gate) reopen() {
	g.inside.Add(bias)
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.opened)
	g.opened = nil
}
