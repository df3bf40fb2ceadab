package conductor

import "context"

// slot is one run's share in the bound on runs that work at the same time.
type slot struct {
	slots chan struct{}
	held  bool
}

func (s *slot) enter(ctx context.Context) error {
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

func (s *slot) leave() {
	if s.held {
		<-s.slots
		s.held = false
	}
}
