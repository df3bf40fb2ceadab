package rolehost

import (
	"context"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
)

// firstLook is the reconciliation of workspace and log after a start. It may go on after
// the start; then the sandbox is usable, but callers that scan or restore the workspace
// wait for its end.
type firstLook struct {
	// exclusive is set if the reconciliation may rewrite the workspace: no new program may
	// be started in it before the end.
	exclusive bool
	cancel    context.CancelFunc
	done      chan struct{}
	failure   chan struct{} // closed if it ends with an error
	err       error
}

// prepareWorkspace creates the workspace of a starting sandbox, starts the first look in a
// goroutine and waits for it up to StartPatience. It returns the error of a look that ended.
func (s *seat) prepareWorkspace(ctx context.Context, l *live, recovered bool) error {
	if l.unfilled {
		recovered = false // of a start that was killed before the role ran
	}
	if err := s.h.workspace.LayOut(ctx, l.client, recovered, l.copied); err != nil {
		return err
	}
	if l.unfilled {
		l.unfilled = false
		if err := s.writeNote(s.noteOf(l, "")); err != nil {
			return err
		}
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

// failed returns a channel that is closed if the look ends with an error; nil for nil.
func (f *firstLook) failed() <-chan struct{} {
	if f == nil {
		return nil
	}
	return f.failure
}

// stopAndWait cancels the look and waits for its end.
func (f *firstLook) stopAndWait() {
	if f == nil {
		return
	}
	f.cancel()
	<-f.done
}

// waitEnded waits until the look has ended, with or without an error. Code timeout: ctx
// ended first.
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

// lookedAt returns the sandbox's control client to callers that scan or rewrite the
// workspace: it waits for the sandbox and for the end of the first look.
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

// guestForNew returns the sandbox's control client to callers that start a program which
// writes to the workspace: it waits for the sandbox, and for an exclusive first look.
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
