package fake

import (
	"context"
	"sync"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// pauses are the pauses of one sandbox: while it is paused nothing connects to it. Programs are
// functions and go on.
type pauses struct {
	mu     sync.Mutex    // guards paused and count
	paused chan struct{} // closed when it goes on; nil unless paused
	count  int
}

var _ sandbox.Pauser = (*held)(nil)

// Pause implements sandbox.Pauser.
func (h *held) Pause(context.Context) error {
	if err := h.driver.mustBeOpen(); err != nil {
		return err
	}
	h.pauses.mu.Lock()
	defer h.pauses.mu.Unlock()
	if h.pauses.paused == nil {
		h.pauses.paused = make(chan struct{})
		h.pauses.count++
	}
	return nil
}

// Resume implements sandbox.Pauser.
func (h *held) Resume(context.Context) error {
	h.pauses.mu.Lock()
	defer h.pauses.mu.Unlock()
	if h.pauses.paused != nil {
		close(h.pauses.paused)
		h.pauses.paused = nil
	}
	return nil
}

// await waits while the sandbox is paused. Code timeout: ctx ended first.
func (p *pauses) await(ctx context.Context, done <-chan struct{}) error {
	p.mu.Lock()
	paused := p.paused
	p.mu.Unlock()
	if paused == nil {
		return nil
	}
	select {
	case <-paused:
	case <-done:
	case <-ctx.Done():
		return choir.Wrap("fake.dial", choir.CodeTimeout, ctx.Err(), "the sandbox is paused")
	}
	return nil
}

// Paused returns the number of living sandboxes that are paused, and of pauses of them so far.
func (m *Machine) Paused() (now, times int) {
	for _, b := range m.all() {
		b.pauses.mu.Lock()
		if b.pauses.paused != nil {
			now++
		}
		times += b.pauses.count
		b.pauses.mu.Unlock()
	}
	return now, times
}
