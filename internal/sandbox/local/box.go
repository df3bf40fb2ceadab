package local

import (
	"context"
	"net"
	"os"
	"syscall"

	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// box is one sandbox. Its parts are set before it is shared, and never after.
type box struct {
	*host.Ending
	state   state // what its handle says
	root    bool
	group   host.Group
	init    *host.Process // nil when it has ended
	monitor *os.Process   // bubblewrap as our child; nil when recovered
	outer   *host.Process // bubblewrap as somebody's child; nil when made here
	output  *os.File      // nil when recovered
	pausing host.Pausing
	making  *host.Making // until the first Dial; nil when recovered
}

func newBox(s state, root bool) *box {
	return &box{state: s, root: root, Ending: host.NewEnding(Name)}
}

var (
	_ sandbox.Sandbox = (*box)(nil)
	_ sandbox.Pauser  = (*box)(nil)
	_ host.Remains    = (*box)(nil)
)

// Handle implements sandbox.Sandbox.
func (b *box) Handle() sandbox.Handle { return encodeHandle(b.state) }

// Dial implements sandbox.Sandbox.
func (b *box) Dial(ctx context.Context) (net.Conn, error) {
	b.making.EndMaking() // its control plane has its handle
	return b.dial(ctx)
}

func (b *box) dial(ctx context.Context) (net.Conn, error) { return host.DialDoor(ctx, b.state.Doors) }

// Level implements sandbox.Sandbox.
func (b *box) Level() sandbox.Level {
	return levelOf(b.state.Limits, b.root, host.LandlockVersion(), b.state.DiskLimited, b.state.FilesLimited)
}

// Usage implements sandbox.Sandbox.
func (b *box) Usage(context.Context) (sandbox.Usage, error) {
	if err := b.CheckRunning("local.usage"); err != nil {
		return sandbox.Usage{}, err
	}
	if b.state.Limits == host.LimitsRlimits {
		return host.UsageOf(b.init.PID), nil
	}
	return b.group.Usage()
}

// Destroy kills PID 1, which ends every process in its namespace, and waits until the
// watcher has removed the rest. It implements sandbox.Sandbox.
func (b *box) Destroy(ctx context.Context) error {
	if err := b.Resume(ctx); err != nil {
		return err
	}
	return b.Ending.Destroy(ctx, b.init)
}

// Pause implements sandbox.Pauser.
func (b *box) Pause(ctx context.Context) error {
	if err := b.CheckRunning("local.pause"); err != nil {
		return err
	}
	return b.pausing.Pause(ctx, b.group)
}

// Resume implements sandbox.Pauser.
func (b *box) Resume(context.Context) error { return b.pausing.Resume(b.group) }

// abandon removes a sandbox that was not completed. It returns no error, because the
// caller has the first one.
func (b *box) abandon(ctx context.Context) {
	ctx, cancel := host.ContextOfRemoval(ctx)
	defer cancel()
	b.killUnfinished(ctx)
	b.Clear(ctx)
}

// killUnfinished kills bubblewrap and its children, including a child that it has not
// reported yet. It stops bubblewrap first, so that it can start no further child.
func (b *box) killUnfinished(ctx context.Context) {
	b.init.Kill()
	if b.monitor == nil {
		return
	}
	b.monitor.Signal(syscall.SIGSTOP)
	for _, pid := range host.Children(b.monitor.Pid) {
		host.KillAndWait(ctx, pid)
	}
	b.monitor.Kill()
}

// Clear removes everything outside the namespaces once PID 1 has ended: bubblewrap, the
// cgroups and the control door.
func (b *box) Clear(ctx context.Context) error {
	defer b.Release()
	b.reap(ctx)
	var first error
	if b.group != nil {
		first = host.KillAll(ctx, b.group)
		if err := b.group.Remove(); first == nil {
			first = err
		}
	}
	if err := host.RemoveDoor(b.state.Doors); first == nil {
		first = err
	}
	return first
}

// reap kills bubblewrap and waits for its end. It would end by itself unless it was
// stopped.
func (b *box) reap(ctx context.Context) {
	if b.monitor != nil {
		b.monitor.Kill() // it has nothing left to wait for
		b.monitor.Wait() // and how it ended says nothing that matters
	}
	if b.outer == nil {
		return
	}
	b.outer.Kill()
	if b.outer.Wait(ctx) == nil {
		// A former driver in this same process may have started it.
		syscall.Wait4(b.outer.PID, nil, syscall.WNOHANG, nil)
	}
}

// Release closes the control plane's files of the sandbox; the sandbox may live on.
func (b *box) Release() {
	b.making.EndMaking()
	_ = b.pausing.Resume(b.group) // best effort: the guard does it too
	b.init.Close()
	b.outer.Close()
	b.output.Close()
}
