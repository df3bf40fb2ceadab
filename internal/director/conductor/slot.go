package conductor

import "context"

// slot is one run's share of the maximum of runs that work at once.
type slot struct {
	slots chan struct{}
	held  bool
}

// acquire waits until fewer than the maximum of runs work, and counts this one. It does
// nothing if the slot is held.
func (s *slot) acquire(ctx context.Context) error {
	if s.held {
		return nil
	}
	select {
	case s.slots <- struct{}{}:
		s.held = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave releases the slot, if it is held.
func (s *slot) leave() {
	if s.held {
		<-s.slots
		s.held = false
	}
}
