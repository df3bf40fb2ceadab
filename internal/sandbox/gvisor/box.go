package gvisor

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// box is one sandbox. Its parts are set before it is shared, and never after.
type box struct {
	*host.Ending
	state  state // what its handle says
	group  host.Group
	sentry *host.Process // nil when it has ended
	// monitor and relay are our children; nil when recovered.
	monitor, relay *os.Process
	// others are the monitor and the relay as somebody's children; empty when made here.
	others []*host.Process
	output *os.File // nil when recovered

	pausing host.Pausing
	making  *host.Making // until the first Dial; nil when recovered
}

func newBox(s state) *box {
	return &box{state: s, Ending: host.NewEnding(Name)}
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
	return levelOf(b.state.Limits, b.state.DiskLimited, filesAllowed())
}

// Usage implements sandbox.Sandbox. Processes are those of the host: the sentry answers
// for those inside.
func (b *box) Usage(context.Context) (sandbox.Usage, error) {
	if err := b.CheckRunning("gvisor.usage"); err != nil {
		return sandbox.Usage{}, err
	}
	if b.state.Limits == host.LimitsRlimits {
		return host.UsageOf(b.state.Monitor.PID), nil
	}
	return b.group.Usage()
}

// Destroy kills the sentry, which ends every process inside, and waits until the watcher
// has removed the rest. It implements sandbox.Sandbox.
func (b *box) Destroy(ctx context.Context) error {
	if err := b.Resume(ctx); err != nil {
		return err
	}
	return b.Ending.Destroy(ctx, b.sentry)
}

// Pause stops runsc with all its processes, and the relay. It implements sandbox.Pauser.
func (b *box) Pause(ctx context.Context) error {
	if err := b.CheckRunning("gvisor.pause"); err != nil {
		return err
	}
	return b.pausing.Pause(ctx, b.group)
}

// Resume implements sandbox.Pauser.
func (b *box) Resume(context.Context) error { return b.pausing.Resume(b.group) }

// Clear removes everything of a sandbox whose sentry has ended or was never there: its
// processes, the cgroups, the control door and the folder with the bundle and runsc's
// state.
func (b *box) Clear(ctx context.Context) error {
	defer b.Release()
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

// Release closes the control plane's files of the sandbox; the sandbox may live on.
func (b *box) Release() {
	b.making.EndMaking()
	_ = b.pausing.Resume(b.group) // best effort: the guard does it too
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
			b.Release()
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
