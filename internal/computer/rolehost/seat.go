package rolehost

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// seat keeps one role of a computer running: its sandbox, its doors and the
// role's process. It is a service under the computer's supervisor.
type seat struct {
	h    *Host
	role choir.Role
	dir  string
	// diskHeld says that the workspace is under the computer's disk limit; Serve sets
	// it before there is a sandbox.
	diskHeld bool

	// mu guards live, waiters, key and failed.
	mu      sync.Mutex
	live    *live
	waiters chan struct{} // closed when live changes
	key     string        // the Director's public key
	failed  error         // why the sandbox did not start the last time it was tried

	rolePID atomic.Int64 // pid of the role process inside, 0 when there is none
}

// live is a sandbox that runs.
type live struct {
	sandbox sandbox.Sandbox
	client  *guest.Client
	attach  *guest.Attachment
	doors   *doors
	logged  bool // that it runs is in the log
	first   *firstLook
}

func newSeat(h *Host, role choir.Role) *seat {
	return &seat{h: h, role: role, dir: filepath.Join(h.cfg.Dir, string(role)), waiters: make(chan struct{})}
}

func (s *seat) String() string { return "sandbox of the " + string(s.role) }

// failedPatience is how long a caller waits for a sandbox whose start has failed, and
// is tried again.
const failedPatience = 3 * time.Second

// guest waits a while until the sandbox runs and returns its control client.
func (s *seat) guest(ctx context.Context) (*guest.Client, error) {
	l, err := s.running(ctx)
	if err != nil {
		return nil, err
	}
	return l.client, nil
}

// running waits a while until the sandbox runs.
func (s *seat) running(ctx context.Context) (*live, error) {
	if s.h.cfg.ReadOnly {
		return nil, choir.E("computer.guest", choir.CodeUnavailable, "the computer does not run").WithRemedy("start it with: choir up")
	}
	ctx, cancel := context.WithTimeout(ctx, s.h.cfg.GuestPatience)
	defer cancel()
	var enough <-chan time.Time
	for {
		s.mu.Lock()
		l, changed, failed := s.live, s.waiters, s.failed
		s.mu.Unlock()
		if l != nil {
			return l, nil
		}
		if failed != nil && enough == nil {
			enough = time.After(failedPatience)
		}
		select {
		case <-changed:
		case <-enough:
			return nil, s.down(failed)
		case <-ctx.Done():
			return nil, s.down(failed)
		}
	}
}

// down says that the sandbox does not run, and why if that is known.
func (s *seat) down(why error) error {
	e := choir.E("computer.guest", choir.CodeUnavailable, "the sandbox of the %s does not run", s.role)
	e.Err = why
	return e.WithRemedy("choir doctor says what is missing")
}

// fail notes why the sandbox did not start; nil when it did.
func (s *seat) fail(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = why
	close(s.waiters)
	s.waiters = make(chan struct{})
}

// failure is why the sandbox does not run; nil when it does or nobody knows.
func (s *seat) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

func (s *seat) set(l *live) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = l
	close(s.waiters)
	s.waiters = make(chan struct{})
}

// level is the isolation in force; ok is false when the sandbox does not run.
func (s *seat) level() (sandbox.Level, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		return sandbox.Level{}, false
	}
	return s.live.sandbox.Level(), true
}

// serving says whether the role's own process runs.
func (s *seat) serving() bool { return s.rolePID.Load() != 0 }

// Serve runs the sandbox until it ends or the context does. An orderly stop
// destroys it; a crash of the control plane leaves it to be taken up again.
func (s *seat) Serve(ctx context.Context) error {
	l, err := s.open(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.fail(err)
			s.h.cfg.Observer.SandboxFailed(s.role, err)
		}
		return err
	}
	s.set(l)
	err = s.attend(ctx, l)
	s.set(nil)
	return errors.Join(err, s.close(ctx, l))
}

// open finds or creates the sandbox, opens the doors for it and starts its role.
func (s *seat) open(ctx context.Context) (*live, error) {
	l := &live{}
	if err := s.makeFolders(); err != nil {
		return nil, choir.Wrap("computer.doors", choir.CodeUnavailable, err, "make the folders of the %s's sandbox", s.role)
	}
	recovered, err := s.findOrCreate(ctx, l)
	if err != nil {
		return nil, s.abandon(ctx, l, err)
	}
	s.fail(nil)
	l.client = guest.NewClient(l.sandbox.Dial)
	s.h.workspace.Limit(l.client)
	if l.attach, err = l.client.Attach(ctx); err == nil {
		l.doors = s.serveDoors(ctx, l.client)
		err = s.start(ctx, l, recovered)
	}
	if err != nil {
		return nil, s.abandon(ctx, l, err)
	}
	return l, nil
}

func (s *seat) setKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

func (s *seat) publicKey() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.key
}

func (s *seat) spec() sandbox.Spec {
	spec := sandbox.Spec{
		Computer: s.h.cfg.ID, Role: s.role,
		Doors: s.doorsFolder(), Guest: s.h.cfg.Guest, UID: s.h.cfg.HostUIDs[s.role],
		Limits: s.h.cfg.Limits, RequireLimits: s.h.cfg.RequireLimits,
	}
	if s.role == choir.RoleAssociate {
		spec.Workspace, spec.DiskLimited = s.workspace(), s.diskHeld
	}
	return spec
}

// workspace is the workspace's folder on the host.
func (s *seat) workspace() string { return filepath.Join(s.dir, "workspace") }

// abandon closes a sandbox that could not be opened, and returns why, with the errors
// of closing it.
func (s *seat) abandon(ctx context.Context, l *live, why error) error {
	if err := s.close(ctx, l); err != nil {
		return errors.Join(why, err)
	}
	return why
}

// close ends the sandbox and its doors, and says so in the log. It runs when
// the context may have ended already, so it has its own time.
func (s *seat) close(ctx context.Context, l *live) error {
	reason := "the sandbox ended by itself"
	if ctx.Err() != nil {
		reason = "the computer went to sleep"
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	var errs []error
	l.first.stopAndWait()
	if l.attach != nil {
		errs = append(errs, l.attach.Close())
	}
	s.rolePID.Store(0)
	if l.sandbox != nil {
		errs = append(errs, s.destroy(ctx, l))
	}
	if l.doors != nil {
		errs = append(errs, l.doors.close(ctx))
	}
	s.mu.Lock()
	logged := l.logged
	s.mu.Unlock()
	if logged {
		_, err := s.h.events.Append(ctx, choir.RoleControl, choir.SandboxStopped{Role: s.role, Reason: reason})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// destroy ends the sandbox. The note of one that could not be ended stays, so
// that the next session finds it.
func (s *seat) destroy(ctx context.Context, l *live) error {
	if err := l.sandbox.Destroy(ctx); err != nil {
		return err
	}
	fault.Point("computer.note.remove")
	if err := os.Remove(s.notePath()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return choir.Wrap("computer.note", choir.CodeUnavailable, err, "remove the handle of the %s's sandbox", s.role)
	}
	return nil
}
