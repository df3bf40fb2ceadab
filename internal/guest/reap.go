package guest

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"choiros/internal/choir"
)

// Ended is the exit status and the resource usage of a child process.
type Ended struct {
	Status syscall.WaitStatus
	Usage  syscall.Rusage
}

// exit returns the same as an Exit.
func (e Ended) exit() Exit {
	x := Exit{
		Code:   e.Status.ExitStatus(),
		CPUMS:  (e.Usage.Utime.Nano() + e.Usage.Stime.Nano()) / 1e6,
		MaxRSS: e.Usage.Maxrss << 10, // the kernel counts in KiB
	}
	if e.Status.Signaled() {
		x.Signal = signalName(e.Status.Signal())
	}
	return x
}

// Reaper starts child processes and waits for their end. With all, as PID 1 or a
// subreaper, it reaps every process that ends below it, so nothing else in the process
// may wait for children, as os/exec does.
type Reaper struct {
	all bool

	// mu guards waiting. It is held across a fork, so that a child that ends at
	// once is known when it is collected; Go serialises forks anyway.
	mu      sync.Mutex
	waiting map[int]chan Ended
}

// NewReaper returns a reaper. With all it reaps every child, adopted ones too, while
// Collect runs; otherwise only those it started.
func NewReaper(all bool) *Reaper {
	return &Reaper{all: all, waiting: map[int]chan Ended{}}
}

// Collect reaps children until ctx ends; it implements Programs. Without all it returns
// at once, because each child has a goroutine of its own.
func (r *Reaper) Collect(ctx context.Context) {
	if !r.all {
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGCHLD)
	defer signal.Stop(signals)
	for {
		r.collect()
		select {
		case <-signals:
		case <-ctx.Done():
			return
		}
	}
}

// collect reaps every child that has ended and sends its end to the starter. It reports
// false if there are no children at all.
func (r *Reaper) collect() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		var e Ended
		pid, err := syscall.Wait4(-1, &e.Status, syscall.WNOHANG, &e.Usage)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return false
		case pid == 0:
			return true
		default:
			if ch := r.waiting[pid]; ch != nil {
				ch <- e // capacity 1, written once
				delete(r.waiting, pid)
			}
		}
	}
}

// Start starts a process in a new session; it implements Programs.
func (r *Reaper) Start(s Start) (Program, error) {
	path, argv := s.Path, s.Argv
	if path == "" {
		var err error
		if path, err = lookPath(argv[0], s.Env); err != nil {
			return nil, err
		}
	}
	if err := checkFolder(s.Dir); err != nil {
		return nil, err
	}
	if len(s.Session) > 0 {
		argv = append(append(slices.Clone(s.Session), path), argv...)
		path = argv[0]
	}
	fds := make([]uintptr, len(s.Files))
	for i, f := range s.Files {
		fds[i] = f.Fd()
	}
	pid, ended, err := r.fork(path, argv, &syscall.ProcAttr{
		Dir: s.Dir, Env: s.Env, Files: fds,
		// The terminal of a session is its program's, not that of who runs it.
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: s.Terminal && len(s.Session) == 0},
	})
	if err != nil {
		return nil, err
	}
	return &child{r, pid, ended}, nil
}

// fork starts a process and returns its pid and a channel that receives its end once.
func (r *Reaper) fork(path string, argv []string, attr *syscall.ProcAttr) (int, <-chan Ended, error) {
	ch := make(chan Ended, 1)
	r.mu.Lock()
	pid, err := syscall.ForkExec(path, argv, attr)
	if err == nil && r.all {
		r.waiting[pid] = ch
	}
	r.mu.Unlock()
	if err != nil {
		return 0, nil, &choir.Error{Op: "guest.start", Code: codeOf(err), Path: clip(path, 200), Msg: "cannot start the program", Err: err}
	}
	if !r.all {
		go awaitOne(pid, ch) // ends with the child, which its starter kills in the end
	}
	return pid, ch, nil
}

// child is a process started by a Reaper.
type child struct {
	reaper *Reaper
	pid    int
	ended  <-chan Ended
}

var _ Program = (*child)(nil)

// PID implements Program.
func (c *child) PID() int { return c.pid }

// Ended implements Program.
func (c *child) Ended() <-chan Ended { return c.ended }

// Signal implements Program.
func (c *child) Signal(s syscall.Signal) error {
	syscall.Kill(-c.pid, s) // one that has ended meanwhile needs none
	return nil
}

// Kill implements Program.
func (c *child) Kill() { killTree(c.pid) }

// KillAlone kills the process and none of its descendants; it implements Program. It does
// nothing if the pid may already belong to another process.
func (c *child) KillAlone() {
	c.reaper.mu.Lock()
	defer c.reaper.mu.Unlock()
	if !c.reaper.all || c.reaper.waiting[c.pid] != nil {
		syscall.Kill(c.pid, syscall.SIGKILL)
	}
}

// EndOrphans kills the children that this process has adopted, with their descendants; it
// implements Programs. Descendants of commands and terminals are not among them, because
// each has a subreaper of its own. Without all it does nothing.
func (r *Reaper) EndOrphans(ctx context.Context) error {
	if !r.all {
		return nil
	}
	for {
		left, err := r.killOrphans()
		if err != nil {
			return choir.Wrap("guest.role", choir.CodeUnavailable, err, "look for processes of the former role")
		}
		if left == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return choir.Wrap("guest.role", choir.CodeTimeout, ctx.Err(), "%d processes of the former role do not end", left)
		case <-time.After(orphanPause):
		}
	}
}

// orphanPause is the pause between two attempts to kill orphans.
const orphanPause = 5 * time.Millisecond

// killOrphans kills the adopted children once and returns their number. The lock keeps it
// from killing a child that Start has just forked.
func (r *Reaper) killOrphans() (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, err := processes()
	if err != nil {
		return 0, err
	}
	n, self := 0, os.Getpid()
	for _, p := range all {
		if p.parent == self && p.state != 'Z' && r.waiting[p.pid] == nil {
			killTree(p.pid)
			n++
		}
	}
	return n, nil
}

func awaitOne(pid int, ch chan<- Ended) {
	var e Ended
	for {
		if _, err := syscall.Wait4(pid, &e.Status, 0, &e.Usage); err != syscall.EINTR {
			ch <- e
			return
		}
	}
}
