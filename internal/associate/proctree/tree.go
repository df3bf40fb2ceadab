package proctree

import (
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"choiros/internal/choir"
)

// Tree is the owner's side of one tree process. Its methods are safe for concurrent use.
type Tree struct {
	wire    *wire
	cmd     *exec.Cmd
	drains  sync.WaitGroup // readers of output
	readEnd chan struct{}  // closed when the reader of replies has ended
	gone    context.Context
	cutAll  context.CancelFunc // ends gone: the output pipes are closed

	clearing sync.Mutex // held during a Clear

	mu      sync.Mutex // guards next, waiting, used and lost
	next    int
	waiting map[int]chan reply
	used    bool  // a command was started since the last Clear
	lost    error // set when the tree process is gone
}

// Start starts a tree process and returns its owner's side. argv is a program that calls
// Serve with file descriptor 3 and argv's last arguments: the lock's name, and the
// folders that commands may write to (none: no restriction).
func Start(argv, env []string) (*Tree, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.ExtraFiles, cmd.Stderr = env, []*os.File{theirs}, os.Stderr
	w, err := newWire(ours)
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		w.conn.Close()
		return nil, choir.Wrap("proctree.start", choir.CodeUnavailable, err, "start %s", argv[0])
	}
	t := &Tree{wire: w, cmd: cmd, readEnd: make(chan struct{}), waiting: map[int]chan reply{}}
	t.gone, t.cutAll = context.WithCancel(context.Background())
	go t.read()
	return t, nil
}

// socketPair returns the two ends of a unix socket.
func socketPair() (a, b *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, choir.Wrap("proctree.start", choir.CodeUnavailable, err, "make a socket pair")
	}
	return os.NewFile(uintptr(fds[0]), "tree"), os.NewFile(uintptr(fds[1]), "owner"), nil
}

// Close ends the tree process with all processes below it, and waits.
func (t *Tree) Close() error {
	err := t.wire.conn.Close()
	<-t.readEnd
	if werr := t.cmd.Wait(); err == nil {
		err = werr
	}
	t.drains.Wait()
	return err
}

// Lost reports whether the tree process has ended.
func (t *Tree) Lost() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost != nil
}

// read delivers replies to the waiting requests until the socket closes.
func (t *Tree) read() {
	defer close(t.readEnd)
	for {
		var r reply
		if _, err := t.wire.receive(&r); err != nil {
			t.lose(err)
			return
		}
		t.mu.Lock()
		ch := t.waiting[r.ID]
		delete(t.waiting, r.ID)
		t.mu.Unlock()
		if ch != nil {
			ch <- r // has room for the one reply
		}
	}
}

// lose records that the tree process is gone and closes the channels of waiting requests.
func (t *Tree) lose(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cutAll()
	t.lost = choir.Wrap("proctree.run", choir.CodeUnavailable, err, "the process that runs the task's commands is gone")
	for id, ch := range t.waiting {
		delete(t.waiting, id)
		close(ch)
	}
}

// ask sends a request with file descriptors and returns its id and a channel for the
// reply, which is closed without a reply if the tree process ends.
func (t *Tree) ask(req request, files ...*os.File) (int, <-chan reply, error) {
	ch := make(chan reply, 1)
	t.mu.Lock()
	if t.lost != nil {
		t.mu.Unlock()
		return 0, nil, t.lost
	}
	t.next++
	req.ID = t.next
	t.waiting[req.ID] = ch
	t.used = t.used || req.Op == opRun
	t.mu.Unlock()
	if err := t.wire.send(req, files...); err != nil {
		t.mu.Lock()
		delete(t.waiting, req.ID)
		t.mu.Unlock()
		return 0, nil, choir.Wrap("proctree.run", choir.CodeUnavailable, err, "speak to the process that runs the task's commands")
	}
	return req.ID, ch, nil
}

// Clear kills every process below the tree and returns the resources of all processes
// that ended since the last Clear. It does not ask the tree process if no command was
// started since then: nothing is below it. Code timeout: a process does not end.
func (t *Tree) Clear() (Usage, error) {
	t.clearing.Lock()
	defer t.clearing.Unlock()
	if used, err := t.beginClear(); !used {
		return Usage{}, err
	}
	cleared := false
	defer func() {
		if !cleared {
			t.mu.Lock()
			t.used = true
			t.mu.Unlock()
		}
	}()
	_, ch, err := t.ask(request{Op: opClear, Grace: Grace})
	if err != nil {
		return Usage{}, err
	}
	r, ok := <-ch
	switch {
	case !ok:
		return Usage{}, t.lost
	case r.Error != "":
		return r.Usage, choir.E("proctree.clear", choir.CodeTimeout, "%s", r.Error)
	}
	cleared = true
	t.drains.Wait() // without processes every pipe has ended
	return r.Usage, nil
}

// beginClear reports whether a command was started since the last Clear, and records that
// one begins; a command that is started meanwhile counts for the next. The error says that
// the tree process is gone.
func (t *Tree) beginClear() (used bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	used, t.used = t.used, false
	if t.lost != nil {
		return false, t.lost
	}
	return used, nil
}

// Spec describes a command. Without Stderr, both output streams go to Stdout.
type Spec struct {
	Argv   []string
	Dir    string
	Env    []string
	Stdin  *os.File // nil is /dev/null; the caller closes it
	Stdout Sink
	Stderr Sink
}

// Sink receives output as it comes, from one goroutine at a time, never after Run has
// returned.
type Sink interface {
	io.Writer
	// Idle is called when no more output came for a moment.
	Idle()
}

// Run runs a command and waits for its end; processes that it leaves run until Clear.
// When ctx ends, Run stops the command's process group and returns the exit and ctx's
// cause. Code not_found: the program cannot be started; busy: too many processes.
func (t *Tree) Run(ctx context.Context, spec Spec) (Exit, error) {
	out, err := t.newStream(spec.Stdout)
	if err != nil {
		return Exit{Code: -1}, err
	}
	errOut := out
	if spec.Stderr != nil {
		if errOut, err = t.newStream(spec.Stderr); err != nil {
			out.abandon()
			return Exit{Code: -1}, err
		}
		defer errOut.leave()
	}
	defer out.leave()
	files := []*os.File{out.child, errOut.child}
	if spec.Stdin != nil {
		files = append(files, spec.Stdin)
	}
	id, ch, err := t.ask(request{Op: opRun, Argv: spec.Argv, Dir: spec.Dir, Env: spec.Env}, files...)
	out.handedOver()
	errOut.handedOver()
	if err != nil {
		return Exit{Code: -1}, err
	}
	r, ok, cause := t.await(ctx, id, ch)
	switch {
	case !ok:
		return Exit{Code: -1}, t.lost
	case r.Limit:
		return Exit{Code: -1}, choir.E("proctree.run", choir.CodeBusy, "no further process can be started: %s", r.Error)
	case r.Error != "":
		return Exit{Code: -1}, choir.E("proctree.run", choir.CodeNotFound, "%s", r.Error)
	}
	return r.Exit, cause
}

// await waits for the reply of a running command; when ctx ends first, it stops the
// command by SIGTERM, then SIGKILL, and returns ctx's cause too. false: the tree is gone.
func (t *Tree) await(ctx context.Context, id int, ch <-chan reply) (reply, bool, error) {
	select {
	case r, ok := <-ch:
		return r, ok, nil
	case <-ctx.Done():
	}
	for kill := false; ; kill = true {
		// A lost tree closes ch, so a failed send needs no other handling.
		_ = t.wire.send(request{Op: opStop, ID: id, Kill: kill})
		timer := time.NewTimer(Grace)
		select {
		case r, ok := <-ch:
			timer.Stop()
			return r, ok, context.Cause(ctx)
		case <-timer.C:
		}
	}
}
