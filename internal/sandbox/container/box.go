package container

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// box is one sandbox. Its parts are set before it is shared, and never after.
type box struct {
	*host.Ending
	state   state // what its handle says
	machine *machine
	init    *host.Process // the container's first process; nil when it has ended
	pausing host.Pausing
	making  *host.Making // until the first Dial; nil when recovered
}

func newBox(m *machine, s state) *box {
	return &box{state: s, machine: m, Ending: host.NewEnding(Name)}
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
	return levelOf(b.state.Engine, b.state.Limited, host.LandlockVersion(), b.state.DiskLimited)
}

// Usage implements sandbox.Sandbox.
func (b *box) Usage(context.Context) (sandbox.Usage, error) {
	if err := b.CheckRunning("container.usage"); err != nil {
		return sandbox.Usage{}, err
	}
	if group := host.OpenGroupOf(b.state.Init.PID); group != nil {
		return group.Usage()
	}
	return host.UsageOf(b.state.Init.PID), nil
}

// Destroy kills the container's first process, which ends every process inside, and waits
// until the watcher has removed the rest. It implements sandbox.Sandbox.
func (b *box) Destroy(ctx context.Context) error {
	if err := b.Resume(ctx); err != nil {
		return err
	}
	return b.Ending.Destroy(ctx, b.init)
}

// Pause stops the processes by the cgroup that the engine made for the container, and not by the
// engine: what an engine paused nobody would resume if this process were killed. It implements
// sandbox.Pauser.
func (b *box) Pause(ctx context.Context) error {
	if err := b.CheckRunning("container.pause"); err != nil {
		return err
	}
	group := b.group()
	if group == nil {
		return choir.E("container.pause", choir.CodeUnavailable, "the container has no cgroup of its own")
	}
	return b.pausing.Pause(ctx, group)
}

// Resume implements sandbox.Pauser.
func (b *box) Resume(context.Context) error { return b.pausing.Resume(b.group()) }

// group returns the container's own cgroup; nil for none, and once it has ended.
func (b *box) group() host.Group {
	if b.init == nil || b.state.Container == "" {
		return nil
	}
	return host.OpenGroupNamed(b.state.Init.PID, b.state.Container)
}

// Clear removes everything of a sandbox whose first process has ended or was never there: the
// container, the control door and the folder.
func (b *box) Clear(ctx context.Context) error {
	defer b.Release()
	var errs []error
	if b.state.Container != "" {
		errs = append(errs, b.machine.engine.remove(ctx, b.state.Container), b.awaitMonitor(ctx))
	}
	errs = append(errs, host.RemoveDoor(b.state.Doors),
		choir.Wrap("container.clear", choir.CodeInternal, os.RemoveAll(b.state.Folder), "remove the folder of a sandbox"))
	return errors.Join(errs...)
}

// monitorPatience is how long the engine's process that waits for a container may live on when the
// engine says that it has removed the container.
const monitorPatience = 2 * time.Second

// awaitMonitor waits for the end of the engine's process that waited for the container. The
// engine has removed the container by then. A creation that failed early did not learn which
// process that is: it has the container's id in its arguments. Podman forgets that process and
// its child, which would have become the container's first, when it could not start the container.
// Then both are killed, and the container's cgroups are removed.
func (b *box) awaitMonitor(ctx context.Context) error {
	if b.state.Boot != b.machine.bootID {
		return nil
	}
	monitors := []host.ProcessName{b.state.Monitor}
	if b.state.Monitor.PID == 0 {
		monitors = nil
		for _, pid := range host.FindByArgument(b.state.Container) {
			monitors = append(monitors, host.ProcessName{PID: pid})
		}
	}
	var errs []error
	for _, name := range monitors {
		p, err := host.OpenProcess(name.PID, name.Start)
		if choir.CodeOf(err) == choir.CodeNotFound {
			continue
		}
		if err == nil {
			patience, cancel := context.WithTimeout(ctx, monitorPatience)
			if p.Wait(patience) != nil {
				err = b.killMonitor(ctx, p)
			}
			cancel()
			p.Close()
		}
		errs = append(errs, err)
	}
	return choir.Wrap("container.clear", choir.CodeTimeout, errors.Join(errs...), "wait for the engine's process of a sandbox")
}

// killMonitor kills a process of the engine with everything below it, and removes the container's
// cgroups.
func (b *box) killMonitor(ctx context.Context, monitor *host.Process) error {
	var folders []string
	var errs []error
	for _, pid := range slices.Backward(host.Descendants(monitor.PID)) {
		folders = append(folders, host.FoldersNamed(pid, b.state.Container)...)
		errs = append(errs, host.KillAndWait(ctx, pid))
	}
	return errors.Join(append(errs, host.RemoveFolders(folders))...)
}

// Release closes the control plane's files of the sandbox; the sandbox may live on.
func (b *box) Release() {
	b.making.EndMaking()
	_ = b.pausing.Resume(b.group()) // best effort: the guard does it too
	b.init.Close()
}

// find returns the sandbox of a handle; its init is nil if it has ended. An error means that
// the sandbox may live but cannot be opened.
func (m *machine) find(s state) (*box, error) {
	b := newBox(m, s)
	if s.Boot != m.bootID {
		return b, nil // the machine was restarted; the numbers name others now
	}
	var err error
	b.init, err = host.OpenProcess(s.Init.PID, s.Init.Start)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return b, nil
	}
	return b, err
}
