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

// seat keeps one role of a computer running: its sandbox, its doors and the role's process.
// It is a service under the computer's supervisor.
type seat struct {
	h    *Host
	role choir.Role
	dir  string
	// diskHeld reports that the workspace is under the computer's disk limit. Serve sets it
	// before there is a sandbox.
	diskHeld bool

	// mu guards live, waiters, key, failed and notCopied.
	mu      sync.Mutex
	live    *live
	waiters chan struct{} // closed when live changes
	key     string        // the Director's public key
	failed  error         // the error of the last start of the sandbox; nil after a success
	// notCopied is the error by which the last close could not store a copied workspace, so that
	// the sandbox lives on; nil after a success.
	notCopied error

	greeting sync.Mutex // held while the Director's key is recorded; before mu

	rolePID atomic.Int64 // pid of the role process inside, 0 when there is none

	pausing sync.Mutex                     // held while the sandbox is paused or resumed; before mu
	paused  atomic.Pointer[sandbox.Pauser] // the sandbox while it is paused, else nil
	still   atomic.Bool                    // the sandbox is paused, or being paused
	unsure  bool                           // its pause failed, and it may stand still although it was resumed; guarded by pausing
}

// live is a running sandbox with its connections.
type live struct {
	sandbox sandbox.Sandbox
	client  *guest.Client
	attach  *guest.Attachment
	doors   *doors
	logged  bool // its start is in the log
	first   *firstLook
	mux     *guest.Mux // shares the driver's single stream; nil if the driver opens several
	// copied means that the sandbox has its own copy of the workspace, unfilled that the copy
	// is still empty.
	copied, unfilled bool
}

func newSeat(h *Host, role choir.Role) *seat {
	return &seat{h: h, role: role, dir: filepath.Join(h.cfg.Dir, string(role)), waiters: make(chan struct{})}
}

func (s *seat) String() string { return "sandbox of the " + string(s.role) }

// failedPatience is how long a caller waits for a sandbox whose last start failed.
const failedPatience = 3 * time.Second

// guest returns the sandbox's control client and waits for the sandbox as running does.
func (s *seat) guest(ctx context.Context) (*guest.Client, error) {
	l, err := s.running(ctx)
	if err != nil {
		return nil, err
	}
	return l.client, nil
}

// running returns the running sandbox, no longer paused, and waits for it up to GuestPatience, or
// failedPatience after a failed start. Code unavailable: it does not run.
func (s *seat) running(ctx context.Context) (*live, error) {
	if s.h.cfg.ReadOnly {
		return nil, choir.Refuse("computer.guest", choir.ReasonComputerNotRunning)
	}
	ctx, cancel := context.WithTimeout(ctx, s.h.cfg.GuestPatience)
	defer cancel()
	var enough <-chan time.Time
	for {
		s.mu.Lock()
		l, changed, failed := s.live, s.waiters, s.failed
		s.mu.Unlock()
		if l != nil {
			return l, s.resume(ctx)
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

// down returns the error for a sandbox that does not run because of why, which may be nil.
func (s *seat) down(why error) error {
	e := choir.Refuse("computer.guest", choir.ReasonSeatDown, choir.TextOf("role", s.role))
	e.Err = why
	return e
}

// fail stores the error of the sandbox's start, nil for a success, and wakes waiting
// callers.
func (s *seat) fail(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = why
	close(s.waiters)
	s.waiters = make(chan struct{})
}

// failure returns the error of the last start of the sandbox; nil after a success.
func (s *seat) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// copyOutError returns the error by which the last close could not store a copied workspace.
func (s *seat) copyOutError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.notCopied
}

// set stores the running sandbox, nil for none, and wakes waiting callers.
func (s *seat) set(l *live) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = l
	close(s.waiters)
	s.waiters = make(chan struct{})
}

// level returns the isolation of the running sandbox; false if it does not run.
func (s *seat) level() (sandbox.Level, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		return sandbox.Level{}, false
	}
	return s.live.sandbox.Level(), true
}

// serving reports whether the role's own process runs.
func (s *seat) serving() bool { return s.rolePID.Load() != 0 }

// Serve runs the sandbox until it or ctx ends, and then destroys it. After a crash of the
// control plane the sandbox lives on, and the next Serve recovers it.
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
	return errors.Join(err, s.resume(ctx), s.close(ctx, l))
}

// open finds or creates the sandbox, serves its doors and starts its role. It returns the
// running sandbox.
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
	l.client = s.connect(l)
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

// spec returns the specification of a new sandbox for the role.
func (s *seat) spec() sandbox.Spec {
	spec := sandbox.Spec{
		Computer: s.h.cfg.ID, Role: s.role,
		Doors: s.doorsFolder(), Guest: s.h.cfg.Guest, UID: s.h.cfg.HostUIDs[s.role],
		Limits: s.h.cfg.Limits, RequireLimits: s.h.cfg.RequireLimits,
	}
	if s.role == choir.RoleAssociate {
		spec.Mounts = []sandbox.Mount{sandbox.Workspace(s.workspace(), s.transport())}
		spec.DiskLimited = s.diskHeld
		if trust := s.trust(); trust != "" {
			spec.Mounts = append(spec.Mounts, sandbox.Mount{Kind: sandbox.MountHost, Folder: trust, Target: sandbox.TrustInside, ReadOnly: true})
		}
	}
	return spec
}

// trust returns the folder of certificates that the role's programs trust; "" for none, and where
// the driver cannot show it.
func (s *seat) trust() string {
	if s.h.cfg.Trust == nil || !s.h.cfg.Driver.Capabilities().Mounts {
		return ""
	}
	return s.h.cfg.Trust()
}

// workspace returns the workspace's folder on the host.
func (s *seat) workspace() string { return filepath.Join(s.dir, "workspace") }

// abandon closes a sandbox that could not be opened and returns why, joined with the errors
// of closing it.
func (s *seat) abandon(ctx context.Context, l *live, why error) error {
	if err := s.close(ctx, l); err != nil {
		return errors.Join(why, err)
	}
	return why
}

// close destroys the sandbox, closes its doors and records its end in the log. It has a
// time limit of its own, since ctx may have ended. If a copied workspace cannot be fetched,
// the sandbox lives on for the next start.
func (s *seat) close(ctx context.Context, l *live) error {
	reason, ended := "the sandbox ended by itself", ctx.Err() == nil
	if !ended {
		reason = "the computer went to sleep"
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.closePatience(l))
	defer cancel()
	var errs []error
	l.first.stopAndWait()
	// A sandbox whose workspace could not be fetched lives on, with its note: within
	// sandbox.OrphanSeconds the next start takes it up.
	kept := s.copyOut(ctx, l)
	errs = append(errs, kept)
	if l.attach != nil {
		errs = append(errs, l.attach.Close())
	}
	s.rolePID.Store(0)
	if l.sandbox != nil && kept == nil {
		errs = append(errs, s.destroy(ctx, l))
	}
	if l.mux != nil { // before the doors, whose handlers may be writing to a sandbox that does not read
		errs = append(errs, l.mux.Close())
	}
	if l.doors != nil {
		errs = append(errs, l.doors.close(ctx))
	}
	s.mu.Lock()
	logged := l.logged
	if l.sandbox != nil {
		s.notCopied = kept
	}
	s.mu.Unlock()
	if bound, ok := l.sandbox.(sandbox.MemoryBound); ok && ended && bound.RanOutOfMemory() {
		reason = choir.SandboxOutOfMemory
	}
	if logged && kept == nil {
		_, err := s.h.events.Append(ctx, choir.RoleControl, choir.SandboxStopped{Role: s.role, Reason: reason})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// destroy destroys the sandbox and removes its note. After an error the note stays, so that
// the next session finds the sandbox.
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
