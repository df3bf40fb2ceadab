package guest

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"choiros/internal/choir"
)

const (
	// roleGrace is how long a role may take to end in order.
	roleGrace = 2 * time.Second
	// roleInputPatience is how long a role may leave its input unread.
	roleInputPatience = 5 * time.Second
	// roleTail is how much of a role's output is kept for the notice of its end.
	roleTail = 4 << 10
)

// roleProcess is the role beside init.
type roleProcess struct {
	name  string
	pid   int
	stdin *os.File
	done  chan struct{} // closed when it has ended and its end was told
}

// roles holds the one role of the sandbox.
type roles struct {
	mu       sync.Mutex // guards what follows
	current  *roleProcess
	starting bool
}

func (r *roles) running() *roleProcess {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

// claim reserves the right to start a role.
func (r *roles) claim() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.starting || r.current != nil {
		return choir.E("guest.role", choir.CodeBusy, "a role is running").WithRemedy("stop it first")
	}
	r.starting = true
	return nil
}

func (r *roles) set(p *roleProcess) {
	r.mu.Lock()
	r.current, r.starting = p, false
	r.mu.Unlock()
}

func (s *Server) startRole(ctx context.Context, _ *wire, r *request) (any, error) {
	if r.Role == nil {
		return nil, choir.Invalid("request.role", "is required")
	}
	if err := s.roles.claim(); err != nil {
		return nil, err
	}
	p, err := s.launchRole(ctx, r.Role)
	s.roles.set(p)
	if err != nil {
		return nil, err
	}
	return &done{PID: p.pid}, nil
}

func (s *Server) launchRole(ctx context.Context, spec *RoleSpec) (*roleProcess, error) {
	files, err := openStreams(&ExecSpec{Stdin: true})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(s.cfg.GuestDir, spec.Name)
	pid, ended, err := s.cfg.Reaper.Start(path, []string{spec.Name}, &syscall.ProcAttr{
		Dir: "/", Env: s.cfg.Env, Files: files.childFDs(), Sys: &syscall.SysProcAttr{Setsid: true},
	})
	files.closeChild()
	if err != nil {
		files.close()
		return nil, err
	}
	p := &roleProcess{name: spec.Name, pid: pid, stdin: files.input, done: make(chan struct{})}
	s.handlers.Go(func() { s.watchRole(ctx, p, ended, files) })
	for _, line := range []json.RawMessage{spec.Credentials, spec.Config} {
		if len(line) > 0 && err == nil {
			err = p.send(line)
		}
	}
	if err != nil {
		killTree(pid)
		<-p.done
		return nil, err
	}
	return p, nil
}

// send writes one line to the role.
func (p *roleProcess) send(line json.RawMessage) error {
	p.stdin.SetWriteDeadline(time.Now().Add(roleInputPatience))
	if _, err := p.stdin.Write(append(line[:len(line):len(line)], '\n')); err != nil {
		return choir.Wrap("guest.role", choir.CodeUnavailable, err, "%s does not read its input", p.name)
	}
	return nil
}

// watchRole waits for the role's end, for which the server's end is a reason,
// and tells those attached.
func (s *Server) watchRole(ctx context.Context, p *roleProcess, ended <-chan Ended, files *streams) {
	defer close(p.done)
	var tail tail
	var outputs sync.WaitGroup
	for _, out := range files.outputs {
		outputs.Go(func() { tail.copyFrom(out) })
	}
	var end Ended
	select {
	case end = <-ended:
	case <-ctx.Done():
		end = endGently(p.pid, ended)
	}
	files.commandEnded()
	outputs.Wait()
	files.close()
	s.roles.set(nil)
	x := end.exit()
	s.presence.tell(Notice{Kind: NoticeRoleExited, Role: p.name, PID: p.pid, Exit: &x, Output: tail.String()})
}

// endGently asks first and kills then.
func endGently(pid int, ended <-chan Ended) Ended {
	syscall.Kill(-pid, syscall.SIGTERM)
	timer := time.NewTimer(roleGrace)
	defer timer.Stop()
	select {
	case end := <-ended:
		return end
	case <-timer.C:
		killTree(pid)
		return <-ended
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
	return &done{PID: p.pid}, p.send(r.Credentials)
}

func (s *Server) stopRole(ctx context.Context, _ *wire, _ *request) (any, error) {
	p := s.roles.running()
	if p == nil {
		return &done{}, nil
	}
	syscall.Kill(-p.pid, syscall.SIGTERM)
	timer := time.NewTimer(roleGrace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		killTree(p.pid)
		<-p.done
	case <-ctx.Done():
		<-p.done // watchRole ends it
	}
	return &done{PID: p.pid}, nil
}

// tail keeps the end of what several streams write.
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
