package local

import (
	"context"
	"os"
	"syscall"

	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// box is one sandbox. Its main process is choir-init.
type box struct {
	*host.Parts
	state   state // what its handle says
	root    bool
	monitor *os.Process   // bubblewrap as our child; nil when recovered
	outer   *host.Process // bubblewrap as somebody's child; nil when made here
	output  *os.File      // nil when recovered
}

func newBox(s state, root bool) *box {
	return &box{state: s, root: root, Parts: host.NewParts(Name, s.Doors)}
}

var _ host.Box = (*box)(nil)

// Handle implements sandbox.Sandbox.
func (b *box) Handle() sandbox.Handle { return encodeHandle(b.state) }

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
		return host.UsageOf(b.Main.PID), nil
	}
	return b.Group.Usage()
}

// Clear removes everything outside the namespaces once PID 1 has ended: bubblewrap, the
// cgroups and the control door.
func (b *box) Clear(ctx context.Context) error {
	defer b.Release()
	b.reap(ctx)
	first := b.RemoveGroup(ctx)
	if err := host.RemoveDoor(b.state.Doors); first == nil {
		first = err
	}
	return first
}

// reap kills bubblewrap and its children, including a child that it has not reported yet, and
// waits for its end. It is stopped first, so that it can start no further child.
func (b *box) reap(ctx context.Context) {
	b.Main.Kill()
	if b.monitor != nil {
		if b.monitor.Signal(syscall.SIGSTOP) == nil { // else an earlier call has reaped it
			for _, pid := range host.Children(b.monitor.Pid) {
				host.KillAndWait(ctx, pid)
			}
		}
		b.monitor.Kill()
		b.monitor.Wait() // how it ended says nothing that matters
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

// Release implements host.Remains.
func (b *box) Release() {
	b.Parts.Release()
	b.outer.Close()
	b.output.Close()
}
