package local

import (
	"context"
	"net"
	"os"
	"syscall"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// goneTimeout is the limit on the wait for killed processes; the kernel needs
// milliseconds.
const goneTimeout = 10 * time.Second

// box is one sandbox. Its parts are set before it is shared, and never after.
type box struct {
	state   state // what its handle says
	root    bool
	group   host.Group
	init    *host.Process // nil when it has ended
	monitor *os.Process   // bubblewrap as our child; nil when recovered
	outer   *host.Process // bubblewrap as somebody's child; nil when made here
	output  *os.File      // nil when recovered
	done    chan struct{}
	left    chan struct{} // closed when it is no longer watched, though it may live
	err     error         // of the cleaning, readable when done is closed
}

func newBox(s state, root bool) *box {
	return &box{state: s, root: root, done: make(chan struct{}), left: make(chan struct{})}
}

var _ sandbox.Sandbox = (*box)(nil)

// Handle implements sandbox.Sandbox.
func (b *box) Handle() sandbox.Handle { return encodeHandle(b.state) }

// Dial implements sandbox.Sandbox.
func (b *box) Dial(ctx context.Context) (net.Conn, error) { return host.DialDoor(ctx, b.state.Doors) }

// Level implements sandbox.Sandbox.
func (b *box) Level() sandbox.Level {
	return levelOf(b.state.Limits, b.root, landlockVersion(), b.state.DiskLimited)
}

// Usage implements sandbox.Sandbox.
func (b *box) Usage(context.Context) (sandbox.Usage, error) {
	select {
	case <-b.done:
		return sandbox.Usage{}, choir.E("local.usage", choir.CodeNotFound, "the sandbox has ended")
	default:
	}
	if b.state.Limits == host.LimitsRlimits {
		return host.UsageOf(b.init.PID), nil
	}
	return b.group.Usage()
}

// Done implements sandbox.Sandbox.
func (b *box) Done() <-chan struct{} { return b.done }

// Destroy kills PID 1, which ends every process in its namespace, and waits until the
// watcher has removed the rest. It implements sandbox.Sandbox.
func (b *box) Destroy(ctx context.Context) error {
	if err := b.init.Kill(); err != nil {
		return err
	}
	select {
	case <-b.done:
		return b.err
	case <-b.left:
		return choir.E("local.destroy", choir.CodeUnavailable, "the driver was closed, so nobody saw the end of this sandbox").
			WithRemedy("recover it by its handle with another driver")
	case <-ctx.Done():
		return choir.Wrap("local.destroy", choir.CodeTimeout, ctx.Err(), "wait for the end of a sandbox")
	}
}

// watch waits for the sandbox's end and removes the rest of it. When ctx ends it returns
// and leaves everything as it is.
func (b *box) watch(ctx context.Context) {
	if err := b.init.Wait(ctx); err != nil {
		b.release()
		close(b.left)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goneTimeout)
	defer cancel()
	b.err = b.clear(ctx)
	close(b.done)
}

// abandon removes a sandbox that was not completed. It returns no error, because the
// caller has the first one.
func (b *box) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goneTimeout)
	defer cancel()
	b.killUnfinished(ctx)
	b.clear(ctx)
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

// removeGone removes the rest of a sandbox that cannot be recovered and returns code
// not_found with the reason why.
func (b *box) removeGone(ctx context.Context, why string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goneTimeout)
	defer cancel()
	if err := b.init.Kill(); err != nil {
		return err
	}
	if b.init != nil {
		if err := b.init.Wait(ctx); err != nil {
			return choir.Wrap("local.recover", choir.CodeTimeout, err, "wait for the end of a sandbox")
		}
	}
	if err := b.clear(ctx); err != nil {
		return err
	}
	return choir.E("local.recover", choir.CodeNotFound, "%s", why)
}

// clear removes everything outside the namespaces once PID 1 has ended: bubblewrap, the
// cgroups and the control door.
func (b *box) clear(ctx context.Context) error {
	defer b.release()
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

// release closes the control plane's files of the sandbox; the sandbox may live on.
func (b *box) release() {
	b.init.Close()
	b.outer.Close()
	b.output.Close()
}
