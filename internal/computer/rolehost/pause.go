package rolehost

import (
	"context"
	"errors"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// Pause stops the processes of both sandboxes where they are, until Resume or the next use of a
// sandbox. Code unavailable: this driver or machine cannot do that; conflict: a start is under way.
// After an error both run, or are started anew.
func (h *Host) Pause(ctx context.Context) error {
	for _, s := range h.seats {
		if err := s.pause(ctx); err != nil {
			return errors.Join(err, h.Resume(ctx))
		}
	}
	return nil
}

// Resume lets both sandboxes go on. A sandbox that cannot is ended, and started anew.
func (h *Host) Resume(ctx context.Context) error {
	var errs []error
	for _, s := range h.seats {
		errs = append(errs, s.resume(ctx))
	}
	return errors.Join(errs...)
}

// Paused reports whether the Associate's sandbox is paused.
func (h *Host) Paused() bool { return h.seats[choir.RoleAssociate].paused.Load() != nil }

// pause pauses the running sandbox; a paused one is left as it is. A use that comes meanwhile waits
// for the pause, and ends it.
func (s *seat) pause(ctx context.Context) error {
	s.pausing.Lock()
	defer s.pausing.Unlock()
	s.still.Store(true) // before the sandbox is looked up, which a use does first
	err := s.pauseLocked(ctx)
	s.still.Store(s.paused.Load() != nil)
	return err
}

// pauseLocked is pause for a caller that holds pausing.
func (s *seat) pauseLocked(ctx context.Context) error {
	s.mu.Lock()
	l := s.live
	s.mu.Unlock()
	switch {
	case s.paused.Load() != nil:
		return nil
	case l == nil || s.rolePID.Load() == 0 || !l.first.ended():
		return choir.E("computer.pause", choir.CodeConflict, "the sandbox of the %s is being started", s.role)
	}
	p, ok := l.sandbox.(sandbox.Pauser)
	if !ok {
		return choir.E("computer.pause", choir.CodeUnavailable, "sandboxes of this driver cannot be paused")
	}
	l.setPaused(true)
	err := p.Pause(ctx)
	s.paused.Store(&p)
	if err != nil {
		s.unsure = true
		return errors.Join(err, s.resumeLocked(ctx))
	}
	return nil
}

// setPaused tells the stream of a sandbox, if it has only one, that nobody reads it now; l may be
// nil, for a sandbox that is being closed.
func (l *live) setPaused(paused bool) {
	if l != nil && l.mux != nil {
		l.mux.SetPaused(paused)
	}
}

// resumePatience is the time that a sandbox has to go on.
const resumePatience = 5 * time.Second

// resume lets a paused sandbox go on, also when ctx has ended. A sandbox that cannot is destroyed;
// the seat then starts another. A sandbox that cannot be destroyed either stays paused for the next try.
func (s *seat) resume(ctx context.Context) error {
	if !s.still.Load() {
		return nil
	}
	s.pausing.Lock()
	defer s.pausing.Unlock()
	return s.resumeLocked(ctx)
}

// renewResumed renews the credentials of a role that is not paused meanwhile, and returns the time
// until the next renewal. A paused sandbox goes on for it, until it is paused again.
func (s *seat) renewResumed(ctx context.Context, l *live) (next time.Duration, err error) {
	s.pausing.Lock()
	defer s.pausing.Unlock()
	if err := s.resumeLocked(ctx); err != nil {
		return 0, err
	}
	return s.renewOrWarn(ctx, l), nil
}

// resumeLocked is resume for callers that hold pausing.
func (s *seat) resumeLocked(ctx context.Context) error {
	p := s.paused.Load()
	if p == nil {
		return nil
	}
	s.mu.Lock()
	l := s.live
	s.mu.Unlock()
	err := s.tryResume(ctx, *p, l)
	if err != nil {
		lives := error(nil)
		if b, ok := (*p).(sandbox.Sandbox); ok {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), resumePatience)
			defer cancel()
			lives = b.Destroy(ctx)
		}
		if err = errors.Join(err, lives); lives != nil {
			return err
		}
	}
	s.paused.Store(nil)
	s.unsure = false
	l.setPaused(false)
	s.still.Store(false)
	return err
}

// tryResume resumes a sandbox. Where its pause failed, an error is also that it does not answer.
func (s *seat) tryResume(ctx context.Context, p sandbox.Pauser, l *live) error {
	ctx = context.WithoutCancel(ctx)
	resuming, cancel := context.WithTimeout(ctx, resumePatience)
	defer cancel()
	err := p.Resume(resuming)
	if err != nil || !s.unsure || l == nil {
		return err
	}
	l.setPaused(false)
	// Not in the time that is left: a driver may take longer to resume than its context lasts.
	greeting, cancel := context.WithTimeout(ctx, s.h.cfg.GuestPatience)
	defer cancel()
	_, err = l.client.Hello(greeting)
	return err
}

// ended reports whether the look has ended; true for nil.
func (f *firstLook) ended() bool {
	if f == nil {
		return true
	}
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}
