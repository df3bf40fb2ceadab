package computer

import (
	"cmp"
	"context"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
)

// startPatience is how long a start waits for the first look at the workspace.
const startPatience = time.Second

// firstLook brings workspace and log together after a start. It goes on behind a
// start that has waited long enough: the sandbox is given out then, and who scans or
// restores the workspace waits for the look.
type firstLook struct {
	// exclusive says that the look may rewrite the workspace, so that nothing new
	// may run in it before the end.
	exclusive bool
	cancel    context.CancelFunc
	done      chan struct{}
	failure   chan struct{} // closed when it ended with an error
	err       error
}

// lookFirst begins the first look and waits for it a while.
func (c *Computer) lookFirst(ctx context.Context, l *live, recovered bool) error {
	exclusive, err := c.mayRewrite(ctx)
	if err != nil {
		return err
	}
	looking, cancel := context.WithCancel(ctx)
	f := &firstLook{exclusive: exclusive, cancel: cancel, done: make(chan struct{}), failure: make(chan struct{})}
	l.first = f
	go func() { // ends with the context or by stopAndWait
		defer close(f.done)
		f.err = c.settle(looking, l.client, recovered)
		if f.err == nil {
			f.err = c.renewSource(looking, l.client)
		}
		if f.err != nil {
			close(f.failure)
		}
	}()
	enough := time.NewTimer(cmp.Or(c.cfg.Patience.Start, startPatience))
	defer enough.Stop()
	select {
	case <-f.done:
		return f.err
	case <-enough.C:
		c.cfg.Log.Info("the workspace is still being looked at", "computer", c.cfg.ID)
		return nil
	case <-ctx.Done():
		<-f.done
		return f.err
	}
}

// mayRewrite reports whether the first look has something to put right.
func (c *Computer) mayRewrite(ctx context.Context) (bool, error) {
	unfinished, err := c.workspace.UnfinishedIntent()
	if err != nil || unfinished || c.wentDown {
		return true, err
	}
	state, err := c.sourceState(ctx)
	return err == nil && state.outdated() && !state.changed(), ctx.Err()
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

// lookedAt is guest for who scans or rewrites the workspace: after the first look.
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

// guestForNew is guest for who starts something that writes to the workspace: after
// a first look that puts it right.
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
