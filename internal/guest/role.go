package guest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/guest/roledoor"
)

const (
	// roleGrace is the time that a role has after SIGTERM before it is killed.
	roleGrace = 2 * time.Second
	// roleInputPatience is the time that a role may leave its input unread.
	roleInputPatience = 5 * time.Second
	// orphanPatience is the time that the processes left by a former role have to end.
	orphanPatience = 5 * time.Second
	// roleTail is the number of bytes of a role's output that are kept for the notice of
	// its exit.
	roleTail = 4 << 10
)

// roleProcess is the running process of the role.
type roleProcess struct {
	name    string
	program Program
	stdin   *os.File
	done    chan struct{} // closed when it has ended and its end was told
	// launch counts the starts of roles in this sandbox.
	launch int
	ended  bool // guarded by roles.mu
}

// roles holds the single role process of the sandbox.
type roles struct {
	mu       sync.Mutex // guards what follows
	current  *roleProcess
	starting bool
	launches int
}

func (r *roles) running() *roleProcess {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

// claim reserves the start of a role and returns its launch number, counted from 1. While
// a role runs or starts the error is code busy.
func (r *roles) claim() (launch int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.starting || r.current != nil {
		return 0, choir.E("guest.role", choir.CodeBusy, "a role is running").WithRemedy("stop it first")
	}
	r.starting = true
	r.launches++
	return r.launches, nil
}

// endStart ends the reservation of a start and records the role that it started; nil if it failed.
// A role that has ended meanwhile is not recorded.
func (r *roles) endStart(p *roleProcess) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.starting = false
	if p != nil && !p.ended {
		r.current = p
	}
}

// forgetRole removes a role that has ended. The reservation of a start stays.
func (r *roles) forgetRole(p *roleProcess) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.ended = true
	if r.current == p {
		r.current = nil
	}
}

// startRole starts a role and sends the reply. If the client has closed its connection by then, the
// role is killed: nobody knows of it, and the next start would be refused.
func (s *Server) startRole(ctx context.Context, w *wire, r *request) (any, error) {
	if r.Role == nil {
		return nil, choir.Invalid("request.role", "is required")
	}
	launch, err := s.roles.claim()
	if err != nil {
		return nil, err
	}
	calling, hangUp := context.WithCancel(ctx)
	defer hangUp()
	s.handlers.Go(func() { // ends when the connection does, which serveConn closes
		_, _, _ = w.read() // the client sends nothing more
		hangUp()
	})
	var p *roleProcess
	if launch > 1 {
		ending, cancel := context.WithTimeout(calling, orphanPatience)
		err = s.cfg.Programs.EndOrphans(ending)
		cancel()
	}
	if err == nil {
		p, err = s.launchRole(ctx, calling, r.Role, launch)
	}
	s.roles.endStart(p)
	if err != nil {
		return nil, err
	}
	if err := w.writeJSON(frameReply, &done{PID: p.program.PID()}); err != nil {
		p.killRole()
		return nil, err
	}
	return nil, nil
}

// killRole kills the role with all its descendants and waits until its end was told.
func (p *roleProcess) killRole() {
	p.program.Kill()
	<-p.done
}

// launchRole starts the role process with its door and writes its credentials and
// configuration to its standard input. If that fails, or calling ends, it kills the process.
func (s *Server) launchRole(ctx, calling context.Context, spec *RoleSpec, launch int) (*roleProcess, error) {
	door, itsEnd, err := roledoor.Listen()
	if err != nil {
		return nil, err
	}
	p, err := s.forkRole(ctx, spec, launch, door, itsEnd)
	itsEnd.Close()
	if err != nil {
		door.Close()
		return nil, err
	}
	stop := context.AfterFunc(calling, p.program.Kill)
	for _, line := range []json.RawMessage{spec.Credentials, spec.Config} {
		if len(line) > 0 && err == nil {
			err = p.send(line)
		}
	}
	if !stop() && err == nil {
		err = choir.Wrap("guest.role", choir.CodeUnavailable, calling.Err(), "nobody waits for the start of %s any more", p.name)
	}
	if err != nil {
		p.killRole()
		return nil, err
	}
	return p, nil
}

func (s *Server) forkRole(ctx context.Context, spec *RoleSpec, launch int, door *roledoor.Listener, itsEnd *os.File) (*roleProcess, error) {
	files, err := openStreams(&ExecSpec{Stdin: true})
	if err != nil {
		return nil, err
	}
	// Little is written there and all of it is read at once, so a role that hangs
	// is noticed when a page is full. A kernel that refuses keeps a larger pipe.
	_, _ = unix.FcntlInt(files.child[0].Fd(), unix.F_SETPIPE_SZ, os.Getpagesize())
	program, err := s.cfg.Programs.Start(Start{
		Path: filepath.Join(s.cfg.GuestDir, spec.Name), Argv: []string{spec.Name},
		Dir: "/", Env: s.cfg.Env, Files: append(slices.Clone(files.child), itsEnd),
	})
	files.closeChild()
	if err != nil {
		files.close()
		return nil, err
	}
	p := &roleProcess{name: spec.Name, program: program, launch: launch, stdin: files.input, done: make(chan struct{})}
	s.handlers.Go(func() { s.watchRole(ctx, p, files, door) })
	return p, nil
}

// send writes one line to the role's standard input. If the role does not read it within
// roleInputPatience, the error is code unavailable.
func (p *roleProcess) send(line json.RawMessage) error {
	p.stdin.SetWriteDeadline(time.Now().Add(roleInputPatience))
	if _, err := p.stdin.Write(append(line[:len(line):len(line)], '\n')); err != nil {
		return choir.Wrap("guest.role", choir.CodeUnavailable, err, "%s does not read its input", p.name)
	}
	return nil
}

// watchRole waits until the role has ended, which it ends itself when ctx ends, closes
// its door and broadcasts the notice of its exit.
func (s *Server) watchRole(ctx context.Context, p *roleProcess, files *streams, door *roledoor.Listener) {
	defer close(p.done)
	life, over := context.WithCancel(ctx)
	var doors sync.WaitGroup
	doors.Go(func() { s.serveRoleDoor(life, door, p.launch) })
	var tail tail
	var outputs sync.WaitGroup
	for _, out := range files.outputs {
		outputs.Go(func() { tail.copyFrom(out) })
	}
	var end Ended
	select {
	case end = <-p.program.Ended():
	case <-ctx.Done():
		end = endGently(p.program)
	}
	over()
	files.commandEnded()
	outputs.Wait()
	files.close()
	doors.Wait()
	s.roles.forgetRole(p)
	x := end.exit()
	s.presence.broadcast(Notice{Kind: NoticeRoleExited, Role: p.name, PID: p.program.PID(), Launch: p.launch, Exit: &x, Output: tail.String()})
}

// endGently sends SIGTERM to a program, kills it after roleGrace, and returns its end.
func endGently(p Program) Ended {
	_ = p.Signal(syscall.SIGTERM) // every kind of program takes this one
	timer := time.NewTimer(roleGrace)
	defer timer.Stop()
	select {
	case end := <-p.Ended():
		return end
	case <-timer.C:
		p.Kill()
		return <-p.Ended()
	}
}

func (s *Server) sendCredentials(_ context.Context, _ *wire, r *request) (any, error) {
	p := s.roles.running()
	if p == nil {
		return nil, choir.E("guest.role", choir.CodeNotFound, "no role is running")
	}
	if len(r.Credentials) == 0 {
		return nil, choir.Invalid("request.credentials", "is required")
	}
	if err := p.send(r.Credentials); err != nil {
		// Nothing else will make it read again. What else runs in the sandbox is not
		// its business, so only this process ends.
		p.program.KillAlone()
		return nil, err
	}
	return &done{PID: p.program.PID()}, nil
}

func (s *Server) stopRole(ctx context.Context, _ *wire, _ *request) (any, error) {
	p := s.roles.running()
	if p == nil {
		return &done{}, nil
	}
	_ = p.program.Signal(syscall.SIGTERM) // every kind of program takes this one
	timer := time.NewTimer(roleGrace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		p.killRole()
	case <-ctx.Done():
		<-p.done // watchRole ends it
	}
	return &done{PID: p.program.PID()}, nil
}

// tail keeps the last roleTail bytes of several output streams.
type tail struct {
	mu   sync.Mutex // guards last
	last []byte
}

func (t *tail) copyFrom(out *output) {
	buf := make([]byte, roleTail)
	for {
		n, err := out.read(buf)
		t.mu.Lock()
		t.last = append(t.last, buf[:n]...)
		t.last = t.last[max(0, len(t.last)-roleTail):]
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return clip(string(t.last), roleTail)
}
