package gvisor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// box is one sandbox. Its main process is the sentry.
type box struct {
	*host.Parts
	state state // what its handle says
	// monitor and relay are our children; nil when recovered.
	monitor, relay *os.Process
	// others are the monitor and the relay as somebody's children; empty when made here.
	others []*host.Process
	output *os.File // nil when recovered
}

func (m *machine) newBox(s state) *box {
	b := &box{state: s, Parts: host.NewParts(Name, s.Doors)}
	b.Inner = pause{runsc: m.runsc, folder: s.Folder, name: s.Name}
	return b
}

var _ host.Box = (*box)(nil)

// Handle implements sandbox.Sandbox.
func (b *box) Handle() sandbox.Handle { return encodeHandle(b.state) }

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
	return b.Group.Usage()
}

// Clear removes everything of a sandbox whose sentry has ended or was never there: its
// processes, the cgroups, the control door and the folder with the bundle and runsc's
// state.
func (b *box) Clear(ctx context.Context) error {
	defer b.Release()
	errs := []error{b.reap(ctx), b.RemoveGroup(ctx), host.RemoveDoor(b.state.Doors), b.removeFolder()}
	return errors.Join(errs...)
}

// reap kills runsc with its children, and the relay, and waits for their end. Runsc
// would end by itself, but not before it has looked for everything that it made. It is
// stopped first, so that it can start no further child.
func (b *box) reap(ctx context.Context) error {
	var errs []error
	if b.monitor != nil && b.monitor.Signal(syscall.SIGSTOP) == nil { // else an earlier call has reaped it
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

// Release implements host.Remains.
func (b *box) Release() {
	b.Parts.Release()
	for _, p := range b.others {
		p.Close()
	}
	b.output.Close()
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
	b = m.newBox(s)
	b.Group = host.OpenGroup(s.Limits, s.Groups)
	if s.Boot != m.bootID {
		return b, outdated, nil // the machine was restarted; the numbers name others now
	}
	if b.Main, err = host.OpenNamed(s.Sentry); err != nil {
		return nil, "", err
	}
	for _, name := range []host.ProcessName{s.Monitor, s.Relay} {
		p, err := host.OpenNamed(name)
		if err != nil {
			b.Release()
			return nil, "", err
		}
		if p != nil {
			b.others = append(b.others, p)
		}
	}
	return b, outdated, nil
}

// controlSocket returns the name of runsc's own socket of a sandbox.
func controlSocket(name string) string { return "runsc-" + name + ".sock" }
