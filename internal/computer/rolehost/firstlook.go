package rolehost

import (
	"context"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
)

// firstLook brings workspace and log together after a start. It goes on behind a
// start that has waited long enough: the sandbox is given out then, and callers that
// scan or restore the workspace wait for the look.
type firstLook struct {
	// exclusive says that the look may rewrite the workspace, so that nothing new
	// may run in it before the end.
	exclusive bool
	cancel    context.CancelFunc
	done      chan struct{}
	failure   chan struct{} // closed when it ended with an error
	err       error
}

// prepareWorkspace lays out the workspace of a sandbox that starts, begins the first
// look at it and waits for the look a while.
func (s *seat) prepareWorkspace(ctx context.Context, l *live, recovered bool) error {
	if err := s.h.workspace.LayOut(ctx, l.client, recovered); err != nil {
		return err
	}
	exclusive, err := s.h.workspace.MayRewrite(ctx)
	if err != nil {
		return err
	}
	looking, cancel := context.WithCancel(ctx)
	f := &firstLook{exclusive: exclusive, cancel: cancel, done: make(chan struct{}), failure: make(chan struct{})}
	l.first = f
	go func() { // ends with the context or by stopAndWait
		defer close(f.done)
		if f.err = s.h.workspace.FirstLook(looking, l.client, recovered); f.err != nil {
			close(f.failure)
		}
	}()
	enough := time.NewTimer(s.h.cfg.StartPatience)
	defer enough.Stop()
	select {
	case <-f.done:
		return f.err
	case <-enough.C:
		s.h.cfg.Log.Info("the workspace is still being looked at", "computer", s.h.cfg.ID)
		return nil
	case <-ctx.Done():
		<-f.done
		return f.err
	}
}

// failed is closed when the look ended with an error.
func (f *firstLook) failed() <-chan struct{} {
	if f == nil {
		return nil
	}
	return f.failure
}

// stopAndWait stops the look and waits for its end.
func (f *firstLook) stopAndWait() {
	if f == nil {
		return
	}
	f.cancel()
	<-f.done
}

// waitEnded returns when the look has ended.
func (f *firstLook) waitEnded(ctx context.Context) error {
	if f == nil {
		return nil
	}
	select {
	case <-f.done:
		return nil // its error ends the sandbox
	case <-ctx.Done():
		return choir.Wrap("computer.tree", choir.CodeTimeout, ctx.Err(), "the workspace is still being looked at after the start")
	}
}

// lookedAt is guest for callers that scan or rewrite the workspace: it waits for the
// first look, too.
func (s *seat) lookedAt(ctx context.Context) (*guest.Client, error) {
	l, err := s.running(ctx)
	if err == nil {
		err = l.first.waitEnded(ctx)
	}
	if err != nil {
		return nil, err
	}
	return l.client, nil
}

// guestForNew is guest for callers that start something which writes to the workspace:
// it waits for a first look that may rewrite the workspace, too.
func (s *seat) guestForNew(ctx context.Context) (*guest.Client, error) {
	l, err := s.running(ctx)
	if err == nil && l.first != nil && l.first.exclusive {
		err = l.first.waitEnded(ctx)
	}
	if err != nil {
		return nil, err
	}
	return l.client, nil
}
