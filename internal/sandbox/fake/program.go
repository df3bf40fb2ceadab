package fake

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/guest/roledoor"
	"choiros/internal/sandbox"

	"golang.org/x/sys/unix"
)

// Program is a function that stands in for a program. It returns the exit code, and must
// return soon once ctx has ended, as a signal makes it.
type Program func(ctx context.Context, p *Process) int

// Process is the environment of a running Program.
type Process struct {
	PID  int
	Argv []string
	Env  []string
	// Dir is its working folder on the host, within the workspace; empty when it
	// was started elsewhere.
	Dir            string
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	programs *programs
	role     *roledoor.Dialer // nil of a tool

	mu    sync.Mutex // guards conns
	conns []net.Conn
}

// Path returns the host path of a path inside the sandbox, which is absolute or relative
// to Dir; empty if it is outside the workspace.
func (p *Process) Path(inside string) string {
	if !filepath.IsAbs(inside) {
		inside = filepath.Join(p.Dir, inside)
	}
	return p.programs.path(inside)
}

// Dial opens a stream to a door of the control plane, as a real program does: a role
// through its descriptor, a tool through the proxy, which leads to the egress door only.
// The stream is closed when the program ends.
func (p *Process) Dial(ctx context.Context, to roledoor.Door) (net.Conn, error) {
	var c net.Conn
	var err error
	switch {
	case p.role != nil:
		c, err = p.role.Dial(ctx, to)
	case to == roledoor.Egress:
		c, err = p.programs.tools.dial(ctx)
	default:
		err = choir.E("fake.dial", choir.CodeUnavailable, "the %s door takes no tools", to)
	}
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, c)
	return c, nil
}

// programs runs the programs of one sandbox.
type programs struct {
	table     map[string]Program
	workspace string
	tools     *door
	all       sync.WaitGroup

	mu      sync.Mutex // guards what follows
	ended   bool
	running map[int]*process
	last    int // number that was given last
}

var _ guest.Programs = (*programs)(nil)

// Collect does nothing, because functions need no reaping; it implements guest.Programs.
func (p *programs) Collect(context.Context) {}

// EndOrphans does nothing, because functions leave no processes; it implements
// guest.Programs.
func (p *programs) EndOrphans(context.Context) error { return nil }

// Start implements guest.Programs.
func (p *programs) Start(s guest.Start) (guest.Program, error) {
	path := s.Path
	if path == "" {
		path = s.Argv[0]
	}
	run := p.table[filepath.Base(path)]
	if run == nil {
		return nil, &choir.Error{Op: "fake.start", Code: choir.CodeNotFound, Path: "argv[0]",
			Msg: "unsupported: the test gives the fake driver no program " + filepath.Base(path)}
	}
	dir, err := p.folder(s.Dir)
	if err != nil {
		return nil, err
	}
	started := &process{programs: p, ended: make(chan guest.Ended, 1)}
	if err := started.open(s.Files); err != nil {
		return nil, err
	}
	self := &Process{Argv: s.Argv, Env: s.Env, Dir: dir, programs: p,
		Stdin: started.files[0], Stdout: started.files[1], Stderr: started.files[2]}
	if len(started.files) > roledoor.FD {
		if self.role, err = roledoor.NewDialer(started.files[roledoor.FD]); err != nil {
			started.close()
			return nil, err
		}
	}
	return started, p.add(started, self, run)
}

// add gives a program its process id and starts it in a goroutine. Once the sandbox is
// ending the error is code unavailable.
func (p *programs) add(started *process, self *Process, run Program) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		self.close()
		started.close()
		return choir.E("fake.start", choir.CodeUnavailable, "the sandbox is ending")
	}
	p.last++
	started.pid, self.PID = p.last, p.last
	p.running[started.pid] = started
	started.ctx, started.cancel = context.WithCancel(context.Background())
	p.all.Go(func() { started.run(self, run) })
	return nil
}

// path returns the host path of a path inside; empty if it is not in the workspace.
func (p *programs) path(inside string) string {
	if p.workspace == "" {
		return ""
	}
	for _, root := range []string{sandbox.WorkspaceInside, p.workspace} {
		if rest, ok := strings.CutPrefix(filepath.Clean(inside)+"/", root+"/"); ok {
			return filepath.Join(p.workspace, rest)
		}
	}
	return ""
}

// folder returns the host path of a working folder; empty for "/". A folder that does not
// exist is code not_found.
func (p *programs) folder(dir string) (string, error) {
	if dir == "/" {
		return "", nil
	}
	place := p.path(dir)
	if place == "" {
		return "", &choir.Error{Op: "fake.start", Code: choir.CodeNotFound, Path: "cwd", Msg: "unsupported: the fake driver has no folder " + dir}
	}
	info, err := os.Stat(place)
	if err != nil {
		return "", &choir.Error{Op: "fake.start", Code: choir.CodeNotFound, Path: "cwd", Msg: "there is no folder " + dir}
	}
	if !info.IsDir() {
		return "", choir.Invalid("cwd", "%s is not a folder", dir)
	}
	return place, nil
}

// count returns the number of running programs.
func (p *programs) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.running)
}

// kill ends every program and refuses new ones.
func (p *programs) kill() {
	p.mu.Lock()
	p.ended = true
	var all []*process
	for _, r := range p.running {
		all = append(all, r)
	}
	p.mu.Unlock()
	for _, r := range all {
		r.Kill()
	}
}

// waitForPrograms returns when every program has ended.
func (p *programs) waitForPrograms() { p.all.Wait() }

// process is a running program from the server's side.
type process struct {
	programs *programs
	pid      int
	files    []*os.File
	ctx      context.Context
	cancel   context.CancelFunc
	ended    chan guest.Ended

	mu     sync.Mutex     // guards signal
	signal syscall.Signal // that ended it; 0 for none
}

var _ guest.Program = (*process)(nil)

// open duplicates the files for the program, because the caller closes them.
func (r *process) open(files []*os.File) error {
	for _, f := range files {
		own, err := duplicate(f)
		if err != nil {
			r.close()
			return choir.Wrap("fake.start", choir.CodeUnavailable, err, "open the files of a program")
		}
		r.files = append(r.files, own)
	}
	return nil
}

// duplicate returns a second descriptor of a file, in non-blocking mode, so that closing
// it ends a read.
func duplicate(f *os.File) (*os.File, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd int
	var failed error
	err = raw.Control(func(of uintptr) {
		if fd, failed = unix.FcntlInt(of, unix.F_DUPFD_CLOEXEC, 0); failed == nil {
			failed = unix.SetNonblock(fd, true)
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// close closes the program's files.
func (r *process) close() {
	for _, f := range r.files {
		f.Close() // again does nothing
	}
}

// run calls the program and reports its exit status.
func (r *process) run(self *Process, program Program) {
	defer r.cancel()
	stop := context.AfterFunc(r.ctx, func() { r.files[0].Close() }) // whoever reads notices
	code := program(r.ctx, self)
	stop()
	self.close()
	r.close()
	r.programs.mu.Lock()
	delete(r.programs.running, r.pid)
	r.programs.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	status := syscall.WaitStatus(code&0xff) << 8
	if r.signal != 0 {
		status = syscall.WaitStatus(r.signal)
	}
	r.ended <- guest.Ended{Status: status}
}

// close closes the program's streams.
func (p *Process) close() {
	if p.role != nil {
		p.role.Close()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close() // the program may have done so
	}
}

// PID implements guest.Program.
func (r *process) PID() int { return r.pid }

// Ended implements guest.Program.
func (r *process) Ended() <-chan guest.Ended { return r.ended }

// Signal applies the default effect of a signal: it ends the program or does nothing. It
// implements guest.Program. Signals that stop a process are code unavailable.
func (r *process) Signal(s syscall.Signal) error {
	switch s {
	case syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGCHLD, syscall.SIGURG:
		return nil
	case syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU:
		return choir.E("fake.signal", choir.CodeUnavailable, "unsupported: a program of the fake driver cannot be stopped with %s", unix.SignalName(s))
	}
	r.mu.Lock()
	if r.signal == 0 {
		r.signal = s
	}
	r.mu.Unlock()
	r.cancel()
	return nil
}

// Kill ends the program and closes its files, so that it cannot write any more; it
// implements guest.Program.
func (r *process) Kill() {
	_ = r.Signal(syscall.SIGKILL) // it always ends a program
	r.close()
}

// KillAlone implements guest.Program.
func (r *process) KillAlone() { r.Kill() }
