package computer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/guest"
	"choiros/internal/guestbin"
	"choiros/internal/sandbox"
)

// identityLife is how long one identity of a role lives; half of it later the
// role gets the next.
func (c *Config) identityLife() time.Duration { return cmp.Or(c.Patience.Identity, 10*time.Minute) }

// seat keeps one role of a computer running: its sandbox, its doors and the
// role's process. It is a service under the computer's supervisor.
type seat struct {
	c    *Computer
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

func newSeat(c *Computer, role choir.Role) *seat {
	return &seat{c: c, role: role, dir: filepath.Join(c.cfg.Dir, string(role)), waiters: make(chan struct{})}
}

func (s *seat) String() string { return "sandbox of the " + string(s.role) }

// How long a caller waits for a sandbox that does not run: while it is being
// started, and once that has failed, which is tried again.
const (
	guestPatience  = 20 * time.Second
	failedPatience = 3 * time.Second
)

// guest waits a while until the sandbox runs and returns its control client.
func (s *seat) guest(ctx context.Context) (*guest.Client, error) {
	if s.c.reading {
		return nil, choir.E("computer.guest", choir.CodeUnavailable, "the computer does not run").WithRemedy("start it with: choir up")
	}
	l, err := s.running(ctx)
	if err != nil {
		return nil, err
	}
	return l.client, nil
}

// running waits a while until the sandbox runs.
func (s *seat) running(ctx context.Context) (*live, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.c.cfg.Patience.Guest, guestPatience))
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
			s.c.cfg.Observer.SandboxFailed(s.role, err)
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
		return nil, errorsJoin(err, s.close(ctx, l))
	}
	s.fail(nil)
	l.client = guest.NewClient(l.sandbox.Dial)
	s.c.workspace.Limit(l.client)
	if l.attach, err = l.client.Attach(ctx); err == nil {
		l.doors = s.serveDoors(ctx, l.client)
		err = s.start(ctx, l, recovered)
	}
	if err != nil {
		return nil, errorsJoin(err, s.close(ctx, l))
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
		Computer: s.c.cfg.ID, Role: s.role,
		Doors: s.doorsFolder(), Guest: s.c.cfg.Guest, UID: s.c.cfg.HostUIDs[s.role],
		Limits: s.c.cfg.Limits, RequireLimits: s.c.cfg.RequireLimits,
	}
	if s.role == choir.RoleAssociate {
		spec.Workspace, spec.DiskLimited = s.workspace(), s.diskHeld
	}
	return spec
}

// workspace is the workspace's folder on the host.
func (s *seat) workspace() string { return filepath.Join(s.dir, "workspace") }

// start makes sure that the role's process runs and says so in the log. The
// Director's sandbox is logged when it says hello, with its key.
func (s *seat) start(ctx context.Context, l *live, recovered bool) error {
	info, err := l.client.Hello(ctx)
	if err != nil {
		return err
	}
	if s.role == choir.RoleAssociate {
		if err := s.c.prepareWorkspace(ctx, l, recovered); err != nil {
			return err
		}
	}
	if info.RolePID != 0 {
		s.rolePID.Store(int64(info.RolePID))
		s.renewOrWarn(ctx, l)
	} else if err := s.startRole(ctx, l); err != nil && !recovered {
		return err
	} else if err != nil {
		s.warnNotStarted(err) // attend tries again
	}
	if s.role == choir.RoleDirector && info.RolePID == 0 {
		return nil
	}
	return s.logStarted(ctx, l, recovered)
}

func (s *seat) logStarted(ctx context.Context, l *live, recovered bool) error {
	level := l.sandbox.Level()
	_, err := s.c.events.Append(ctx, choir.RoleControl, choir.SandboxStarted{
		Role: s.role, Driver: level.Driver, Level: level.Name, Missing: level.Missing, PublicKey: s.publicKey(), Recovered: recovered,
	})
	if err == nil {
		s.mu.Lock()
		l.logged = true
		s.mu.Unlock()
	}
	return err
}

// startRole starts the role's process with a fresh identity.
func (s *seat) startRole(ctx context.Context, l *live) error {
	creds, err := s.c.cfg.Bus.Mint(s.role, s.c.cfg.User, s.c.cfg.ID, s.c.cfg.identityLife())
	if err != nil {
		return err
	}
	first := bus.Boot{User: s.c.cfg.User, Computer: s.c.cfg.ID, Role: s.role, Credentials: creds, Limits: s.c.cfg.RunLimits}
	if s.role == choir.RoleDirector {
		if first.Start, err = s.c.directorStart(ctx); err != nil {
			return err
		}
	}
	boot, err := json.Marshal(first)
	if err != nil {
		return choir.Wrap("computer.role", choir.CodeInternal, err, "encode the boot line")
	}
	name := guestbin.Director
	if s.role == choir.RoleAssociate {
		name = guestbin.Associate
	}
	pid, err := l.client.StartRole(ctx, guest.RoleSpec{Name: name, Credentials: boot})
	s.rolePID.Store(int64(pid))
	return err
}

// renew hands the role its next identity.
func (s *seat) renew(ctx context.Context, l *live) error {
	creds, err := s.c.cfg.Bus.Mint(s.role, s.c.cfg.User, s.c.cfg.ID, s.c.cfg.identityLife())
	if err != nil {
		return err
	}
	line, err := json.Marshal(creds)
	if err != nil {
		return choir.Wrap("computer.role", choir.CodeInternal, err, "encode credentials")
	}
	return l.client.SendCredentials(ctx, line)
}

// renewOrWarn renews the role's identity and returns when to do it again. A role
// that takes none is ended by init and started again by attend. Nothing else in
// the sandbox is ended for it.
func (s *seat) renewOrWarn(ctx context.Context, l *live) (next time.Duration) {
	err := s.renew(ctx, l)
	// A role that has just exited gets an identity when it starts again.
	if err == nil || choir.CodeOf(err) == choir.CodeNotFound {
		return s.c.cfg.identityLife() / 2
	}
	s.c.cfg.Log.Warn("role got no new identity", "computer", s.c.cfg.ID, "role", s.role, "error", err)
	return s.c.cfg.identityLife() / 10
}

func (s *seat) warnNotStarted(err error) {
	s.c.cfg.Log.Warn("role did not start", "computer", s.c.cfg.ID, "role", s.role, "error", err)
}

// attend watches a running sandbox: it restarts the role when it exits, renews
// its identity, and returns when the sandbox or the context ends.
func (s *seat) attend(ctx context.Context, l *live) error {
	renew := time.NewTimer(s.c.cfg.identityLife() / 2)
	defer renew.Stop()
	restart := time.NewTimer(time.Hour)
	restart.Stop()
	defer restart.Stop()
	delay := 100 * time.Millisecond
	if s.rolePID.Load() == 0 {
		restart.Reset(delay)
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.first.failed():
			return l.first.err
		case <-l.sandbox.Done():
			return choir.E("computer.sandbox", choir.CodeUnavailable, "the sandbox of the %s ended", s.role)
		case n, ok := <-l.attach.Notices():
			if !ok {
				return choir.E("computer.sandbox", choir.CodeUnavailable, "the sandbox of the %s no longer answers", s.role)
			}
			l.doors.endRole(n.Launch)
			// An earlier role's end may be told after the next one was started.
			if n.Kind == guest.NoticeRoleExited && (n.PID == 0 || int64(n.PID) == s.rolePID.Load()) {
				s.c.cfg.Log.Warn("role exited", "computer", s.c.cfg.ID, "role", s.role, "exit", n.Exit, "output", n.Output)
				s.rolePID.Store(0)
				restart.Reset(delay)
				delay = min(2*delay, 10*time.Second)
			}
		case <-restart.C:
			// What else runs in the sandbox must not end with its role.
			if err := s.startRole(ctx, l); err != nil {
				s.warnNotStarted(err)
				restart.Reset(delay)
				delay = min(2*delay, 10*time.Second)
			}
		case <-renew.C:
			delay = 100 * time.Millisecond
			renew.Reset(s.renewOrWarn(ctx, l))
		}
	}
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
		_, err := s.c.events.Append(ctx, choir.RoleControl, choir.SandboxStopped{Role: s.role, Reason: reason})
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

// errorsJoin joins errors as errors.Join does, but keeps a single error as it is
// so that its code and path stay visible.
func errorsJoin(first error, rest ...error) error {
	joined := errors.Join(rest...)
	if joined == nil {
		return first
	}
	return errors.Join(first, joined)
}
