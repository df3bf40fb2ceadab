package rolehost

import (
	"context"
	"encoding/json"
	"time"

	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/guestbin"
)

// start prepares the workspace, starts the role's process unless it runs, and records the
// start of the sandbox in the log. The Director's is recorded later, by hello.
func (s *seat) start(ctx context.Context, l *live, recovered bool) error {
	info, err := l.client.Hello(ctx)
	if err != nil {
		return err
	}
	if s.role == choir.RoleAssociate {
		if err := s.prepareWorkspace(ctx, l, recovered); err != nil {
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

// logStarted appends that the sandbox was started or recovered.
func (s *seat) logStarted(ctx context.Context, l *live, recovered bool) error {
	level := l.sandbox.Level()
	_, err := s.h.events.Append(ctx, choir.RoleControl, choir.SandboxStarted{
		Role: s.role, Driver: level.Driver, Level: level.Name, Missing: level.Missing, PublicKey: s.publicKey(), Recovered: recovered,
	})
	if err == nil {
		s.mu.Lock()
		l.logged = true
		s.mu.Unlock()
	}
	return err
}

// startRole starts the role's process with fresh credentials.
func (s *seat) startRole(ctx context.Context, l *live) error {
	creds, err := s.h.bus.Mint(s.role, s.h.cfg.User, s.h.cfg.ID, s.h.cfg.IdentityLife)
	if err != nil {
		return err
	}
	first := bus.Boot{User: s.h.cfg.User, Computer: s.h.cfg.ID, Role: s.role, Credentials: creds, Limits: s.h.cfg.RunLimits}
	start := s.h.directorStart
	if s.role == choir.RoleAssociate {
		start = s.h.associateStart
	}
	if first.Start, err = start(ctx); err != nil {
		return err
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

// renew sends fresh credentials to the role's process.
func (s *seat) renew(ctx context.Context, l *live) error {
	creds, err := s.h.bus.Mint(s.role, s.h.cfg.User, s.h.cfg.ID, s.h.cfg.IdentityLife)
	if err != nil {
		return err
	}
	line, err := json.Marshal(creds)
	if err != nil {
		return choir.Wrap("computer.role", choir.CodeInternal, err, "encode credentials")
	}
	return l.client.SendCredentials(ctx, line)
}

// renewOrWarn renews the role's credentials, logs an error, and returns the time until the
// next renewal.
func (s *seat) renewOrWarn(ctx context.Context, l *live) (next time.Duration) {
	err := s.renew(ctx, l)
	// A role that has just exited gets an identity when it starts again.
	if err == nil || choir.CodeOf(err) == choir.CodeNotFound {
		return s.h.cfg.IdentityLife / 2
	}
	s.h.cfg.Log.Warn("role got no new identity", "computer", s.h.cfg.ID, "role", s.role, "error", err)
	return s.h.cfg.IdentityLife / 10
}

// warnNotStarted logs that the role's process did not start.
func (s *seat) warnNotStarted(err error) {
	s.h.cfg.Log.Warn("role did not start", "computer", s.h.cfg.ID, "role", s.role, "error", err)
}

// attend watches a running sandbox: it restarts the role's process when it exits and renews
// its credentials. It returns an error when the sandbox ends, and nil when ctx ends.
func (s *seat) attend(ctx context.Context, l *live) error {
	renew := time.NewTimer(s.h.cfg.IdentityLife / 2)
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
			s.loseCommands()
			return choir.Refuse("computer.sandbox", choir.ReasonSandboxEnded, choir.TextOf("role", s.role))
		case n, ok := <-l.attach.Notices():
			if !ok {
				return choir.Refuse("computer.sandbox", choir.ReasonSandboxSilent, choir.TextOf("role", s.role))
			}
			l.doors.endRole(n.Launch)
			// An earlier role's end may be told after the next one was started.
			if n.Kind == guest.NoticeRoleExited && (n.PID == 0 || int64(n.PID) == s.rolePID.Load()) {
				s.h.cfg.Log.Warn("role exited", "computer", s.h.cfg.ID, "role", s.role, "exit", n.Exit, "output", n.Output)
				s.rolePID.Store(0)
				s.loseCommands()
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
			next, err := s.renewResumed(ctx, l)
			if err != nil {
				return err
			}
			renew.Reset(next)
		}
	}
}

// loseCommands shows the running commands of agents no more, because they ended with the process
// of the Associate.
func (s *seat) loseCommands() {
	if s.role == choir.RoleAssociate {
		s.h.terminals.commands.lose()
	}
}

// hello stores the Director's public key and records the start of its sandbox in the log. After an
// error it has stored nothing, so that the Director can say it again.
func (s *seat) hello(ctx context.Context, key string) error {
	// The Director may speak before its seat is ready.
	if _, err := s.guest(ctx); err != nil {
		return err
	}
	s.greeting.Lock()
	defer s.greeting.Unlock()
	s.mu.Lock()
	l, before := s.live, s.key
	s.key = key
	s.mu.Unlock()
	if l == nil || before == key {
		return nil
	}
	err := s.writeNote(s.noteOf(l, key))
	if err == nil {
		err = s.logStarted(ctx, l, false)
	}
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.live == l {
			s.key = before
		}
	}
	return err
}
