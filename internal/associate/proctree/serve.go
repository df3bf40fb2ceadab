package proctree

import (
	"errors"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// Serve runs the commands that the owner requests over sock, until its other end closes, and returns when no
// process is left below this one: it is the main function of the tree process. It holds name as a lock, so
// that the next tree waits for its end. With folders, commands may write only below these, if the kernel
// supports it, see Confines.
func Serve(sock *os.File, name string, writable ...string) error {
	w, err := newWire(sock)
	if err != nil {
		return err
	}
	lock, err := acquireLock(name)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return choir.Wrap("proctree.serve", choir.CodeUnavailable, err, "become the one who adopts orphans")
	}
	s := &server{wire: w, running: map[int]int{}, reaped: make(chan struct{}, 1)}
	done := s.watch()
	defer done()
	err = onCommandThread(writable, s.loop)
	s.clear(Grace)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	return err
}

// acquireLock takes the lock name, an abstract socket that the kernel frees with the process, and
// waits while another process holds it.
func acquireLock(name string) (net.Listener, error) {
	for {
		l, err := net.Listen("unix", "@"+name)
		if err == nil || !errors.Is(err, syscall.EADDRINUSE) {
			return l, err
		}
		if c, err := net.Dial("unix", "@"+name); err == nil {
			_, _ = c.Read(make([]byte, 1)) // returns when the other one ends
			c.Close()
		}
	}
}

type server struct {
	wire *wire
	// mu guards running and used, and makes a fork and its entry in running one
	// step for the reaper.
	mu      sync.Mutex
	running map[int]int // pid to request
	used    Usage
	reaped  chan struct{} // holds a token when something was reaped
}

// watch starts reaping children as they end. The returned function stops it and waits.
func (s *server) watch() (stop func()) {
	children, ignored := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	// The owner decides when this process ends, not a signal to its group.
	signal.Notify(ignored, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range children {
			s.reap()
		}
	}()
	return func() {
		signal.Stop(children)
		signal.Stop(ignored)
		close(children)
		<-ended
	}
}

// reap collects every ended child, answers the requests of ended commands, and reports
// whether no child is left. Orphaned descendants become children of this process, so no
// child means no descendant.
func (s *server) reap() (empty bool) {
	var replies []reply
	s.mu.Lock()
	for {
		var status syscall.WaitStatus
		var ru syscall.Rusage
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, &ru)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if pid <= 0 {
			empty = errors.Is(err, syscall.ECHILD)
			break
		}
		s.used.add(Usage{CPU: time.Duration(ru.Utime.Nano() + ru.Stime.Nano()), MaxRSS: ru.Maxrss << 10})
		if id, ok := s.running[pid]; ok {
			delete(s.running, pid)
			replies = append(replies, reply{ID: id, Exit: exitOf(status)})
		}
	}
	s.mu.Unlock()
	for _, r := range replies {
		s.answer(r)
	}
	select {
	case s.reaped <- struct{}{}:
	default:
	}
	return empty
}

func exitOf(status syscall.WaitStatus) Exit {
	if status.Signaled() {
		return Exit{Code: -1, Signal: unix.SignalName(status.Signal())}
	}
	return Exit{Code: status.ExitStatus()}
}

// answer sends a reply and ignores errors: if the owner is gone, loop notices too.
func (s *server) answer(r reply) { _ = s.wire.send(r) }

// loop handles requests until the owner's end of the socket closes, and returns the error
// of receiving. It runs on the thread that starts the commands.
func (s *server) loop() error {
	for {
		var req request
		s.wire.await()
		fds, err := s.wire.receive(&req)
		if err == nil {
			s.handle(req, fds)
		}
		for _, fd := range fds {
			syscall.Close(fd)
		}
		if err != nil {
			return err
		}
	}
}

// handle executes one request. The caller closes fds.
func (s *server) handle(req request, fds []int) {
	switch req.Op {
	case opRun:
		if err := s.start(req, fds); err != nil {
			limit := errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM)
			s.answer(reply{ID: req.ID, Error: err.Error(), Limit: limit})
		}
	case opStop:
		s.stop(req)
	case opClear:
		r := reply{ID: req.ID}
		if !s.clear(req.Grace) {
			r.Error = "processes are left that do not end"
		}
		s.mu.Lock()
		r.Usage, s.used = s.used, Usage{}
		s.mu.Unlock()
		s.answer(r)
	}
}

// start starts a command with the descriptors of its streams in fds; reap answers its end.
func (s *server) start(req request, fds []int) error {
	if len(fds) < 2 || len(req.Argv) == 0 {
		return choir.E("proctree.run", choir.CodeInternal, "a command without its streams")
	}
	path, err := lookPath(req.Argv[0], req.Dir, req.Env)
	if err != nil {
		return err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	input := null.Fd()
	if len(fds) > 2 {
		input = uintptr(fds[2])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	pid, err := syscall.ForkExec(path, req.Argv, &syscall.ProcAttr{
		Dir: req.Dir, Env: req.Env, Files: []uintptr{input, uintptr(fds[0]), uintptr(fds[1])},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return err
	}
	s.running[pid] = req.ID
	return nil
}

// stop sends SIGTERM or SIGKILL to the process group of a running command.
func (s *server) stop(req request) {
	sig := syscall.SIGTERM
	if req.Kill {
		sig = syscall.SIGKILL
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for pid, id := range s.running {
		if id == req.ID {
			_ = syscall.Kill(-pid, sig)
		}
	}
}
