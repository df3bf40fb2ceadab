package gvisor

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
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
	state  state // what its handle says
	group  host.Group
	sentry *host.Process // nil when it has ended
	// monitor and relay are our children; nil when recovered.
	monitor, relay *os.Process
	// others are the monitor and the relay as somebody's children; empty when made here.
	others []*host.Process
	output *os.File // nil when recovered
	done   chan struct{}
	left   chan struct{} // closed when it is no longer watched, though it may live
	err    error         // of the cleaning, readable when done is closed
}

func newBox(s state) *box {
	return &box{state: s, done: make(chan struct{}), left: make(chan struct{})}
}

var _ sandbox.Sandbox = (*box)(nil)

// Handle implements sandbox.Sandbox.
func (b *box) Handle() sandbox.Handle { return encodeHandle(b.state) }

// Dial implements sandbox.Sandbox.
func (b *box) Dial(ctx context.Context) (net.Conn, error) { return host.DialDoor(ctx, b.state.Doors) }

// Level implements sandbox.Sandbox.
func (b *box) Level() sandbox.Level { return levelOf(b.state.Limits, b.state.DiskLimited) }

// Usage implements sandbox.Sandbox. Processes are those of the host: the sentry answers
// for those inside.
func (b *box) Usage(context.Context) (sandbox.Usage, error) {
	select {
	case <-b.done:
		return sandbox.Usage{}, choir.E("gvisor.usage", choir.CodeNotFound, "the sandbox has ended")
	default:
	}
	if b.state.Limits == host.LimitsRlimits {
		return host.UsageOf(b.state.Monitor.PID), nil
	}
	return b.group.Usage()
}

// Done implements sandbox.Sandbox.
func (b *box) Done() <-chan struct{} { return b.done }

// Destroy kills the sentry, which ends every process inside, and waits until the watcher
// has removed the rest. It implements sandbox.Sandbox.
func (b *box) Destroy(ctx context.Context) error {
	if err := b.sentry.Kill(); err != nil {
		return err
	}
	select {
	case <-b.done:
		return b.err
	case <-b.left:
		return choir.E("gvisor.destroy", choir.CodeUnavailable, "the driver was closed, so nobody saw the end of this sandbox").
			WithRemedy("recover it by its handle with another driver")
	case <-ctx.Done():
		return choir.Wrap("gvisor.destroy", choir.CodeTimeout, ctx.Err(), "wait for the end of a sandbox")
	}
}

// watch waits for the sandbox's end and removes the rest of it. When ctx ends it returns
// and leaves everything as it is.
func (b *box) watch(ctx context.Context) {
	if err := b.sentry.Wait(ctx); err != nil {
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
	b.clear(ctx)
}

// removeGone removes the rest of a sandbox that cannot be recovered and returns code
// not_found with the reason why.
func (b *box) removeGone(ctx context.Context, why string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goneTimeout)
	defer cancel()
	if err := b.sentry.Kill(); err != nil {
		return err
	}
	if b.sentry != nil {
		if err := b.sentry.Wait(ctx); err != nil {
			return choir.Wrap("gvisor.recover", choir.CodeTimeout, err, "wait for the end of a sandbox")
		}
	}
	if err := b.clear(ctx); err != nil {
		return err
	}
	return choir.E("gvisor.recover", choir.CodeNotFound, "%s", why)
}

// clear removes everything of a sandbox whose sentry has ended or was never there: its
// processes, the cgroups, the control door and the folder with the bundle and runsc's
// state.
func (b *box) clear(ctx context.Context) error {
	defer b.release()
	errs := []error{b.reap(ctx)}
	if b.group != nil {
		errs = append(errs, host.KillAll(ctx, b.group), b.group.Remove())
	}
	errs = append(errs, host.RemoveDoor(b.state.Doors), b.removeFolder())
	return errors.Join(errs...)
}

// reap kills runsc with its children, and the relay, and waits for their end. Runsc
// would end by itself, but not before it has looked for everything that it made. It is
// stopped first, so that it can start no further child.
func (b *box) reap(ctx context.Context) error {
	var errs []error
	if b.monitor != nil {
		b.monitor.Signal(syscall.SIGSTOP) // it may have ended
		for _, pid := range host.Children(b.monitor.Pid) {
			errs = append(errs, host.KillAndWait(ctx, pid))
		}
	}
	for _, child := range []*os.Process{b.monitor, b.relay} {
		if child != nil {
			child.Kill() // it may have ended
			child.Wait() // and how it ended says nothing that matters
		}
	}
	for _, p := range b.others {
		p.Kill()
		if p.Wait(ctx) == nil {
			// A former driver in this same process may have started it.
			syscall.Wait4(p.PID, nil, syscall.WNOHANG, nil)
		}
	}
	return errors.Join(errs...)
}

// removeFolder removes the bundle and runsc's state, and the socket that runsc makes
// elsewhere when the path of the folder is too long for one.
func (b *box) removeFolder() error {
	errs := []error{os.RemoveAll(b.state.Folder)}
	for _, dir := range []string{"/var/run", "/run", "/tmp"} {
		if err := os.Remove(filepath.Join(dir, controlSocket(b.state.Name))); !os.IsNotExist(err) {
			errs = append(errs, err)
		}
	}
	return choir.Wrap("gvisor.clear", choir.CodeInternal, errors.Join(errs...), "remove the folder of a sandbox")
}

// release closes the control plane's files of the sandbox; the sandbox may live on.
func (b *box) release() {
	b.sentry.Close()
	for _, p := range b.others {
		p.Close()
	}
	b.output.Close()
}

// find returns the sandbox of a handle; its sentry is nil if it has ended. An error means
// that the sandbox may live but cannot be opened.
func (m *machine) find(s state) (*box, error) {
	b := newBox(s)
	b.group = host.OpenGroup(s.Limits, s.Groups)
	if s.Boot != m.bootID {
		return b, nil // the machine was restarted; the numbers name others now
	}
	var err error
	if b.sentry, err = openNamed(s.Sentry); err != nil {
		return nil, err
	}
	for _, name := range []host.ProcessName{s.Monitor, s.Relay} {
		p, err := openNamed(name)
		if err != nil {
			b.release()
			return nil, err
		}
		if p != nil {
			b.others = append(b.others, p)
		}
	}
	return b, nil
}

// openNamed opens a process by its name; nil if it has ended.
func openNamed(n host.ProcessName) (*host.Process, error) {
	p, err := host.OpenProcess(n.PID, n.Start)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return nil, nil
	}
	return p, err
}

// controlSocket returns the name of runsc's own socket of a sandbox.
func controlSocket(name string) string { return "runsc-" + name + ".sock" }
