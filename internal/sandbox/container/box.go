package container

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// box is one sandbox. Its main process is the container's first.
type box struct {
	*host.Parts
	state   state // what its handle says
	machine *machine
}

func newBox(m *machine, s state) *box {
	return &box{state: s, machine: m, Parts: host.NewParts(Name, s.Doors)}
}

var _ host.Box = (*box)(nil)

// Handle implements sandbox.Sandbox.
func (b *box) Handle() sandbox.Handle { return encodeHandle(b.state) }

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

// Clear removes everything of a sandbox whose first process has ended or was never there: the
// container, the control door and the folder.
func (b *box) Clear(ctx context.Context) error {
	defer b.Release()
	b.CountMemoryKills() // before all else: the engine removes the group when it notices the end
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

// Find implements host.Maker.
func (m *machine) Find(h sandbox.Handle) (b *box, outdated string, err error) {
	s, err := decodeHandle(h)
	if err != nil {
		return nil, "", err
	}
	if s.Workspace {
		outdated = host.CheckToolchains(s.Toolchains, m.cfg.Toolchains)
	}
	b = newBox(m, s)
	if s.Boot != m.bootID {
		return b, outdated, nil // the machine was restarted; the numbers name others now
	}
	if b.Main, err = host.OpenNamed(s.Init); err != nil {
		return nil, "", err
	}
	if b.Main != nil {
		b.Group = host.OpenGroupNamed(s.Init.PID, s.Container)
	}
	return b, outdated, nil
}
