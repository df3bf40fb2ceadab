package host

import (
	"context"
	"net"
	"sync/atomic"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// Box is a sandbox of a driver of this machine. Its type embeds Parts.
type Box interface {
	sandbox.Sandbox
	sandbox.Pauser
	Remains
	parts() *Parts
}

// Parts are the parts that each sandbox of this machine has. They are set before the sandbox is
// shared, and never after. Make them with NewParts.
type Parts struct {
	*Ending
	Doors  string   // the folder of the control door
	Group  Group    // nil for none
	Main   *Process // its end is the sandbox's; nil once it has ended
	Making *Making  // until the first Dial; nil when recovered
	Pausing
	memoryKills atomic.Int64 // in the group, counted when the rest is removed
	destroyed   atomic.Bool  // it was ended while it ran
}

// NewParts returns the parts of a sandbox of a driver, whose control door is in a folder.
func NewParts(driver, doors string) *Parts {
	return &Parts{Ending: NewEnding(driver), Doors: doors}
}

var _ interface{ parts() *Parts } = (*Parts)(nil)

// parts implements Box.
func (p *Parts) parts() *Parts { return p }

// Dial opens a stream through the control door. It implements sandbox.Sandbox.
func (p *Parts) Dial(ctx context.Context) (net.Conn, error) {
	p.Making.EndMaking() // its control plane has its handle
	return p.DialEarly(ctx)
}

// DialEarly does the same for the driver, while the sandbox is being made.
func (p *Parts) DialEarly(ctx context.Context) (net.Conn, error) { return DialDoor(ctx, p.Doors) }

// Pause stops all processes of the group. It implements sandbox.Pauser.
func (p *Parts) Pause(ctx context.Context) error {
	op := p.driver + ".pause"
	if err := p.CheckRunning(op); err != nil {
		return err
	}
	if p.Group == nil {
		return choir.E(op, choir.CodeUnavailable, "the sandbox has no cgroup of its own")
	}
	return p.Pausing.Pause(ctx, p.Group)
}

// Resume implements sandbox.Pauser.
func (p *Parts) Resume(context.Context) error { return p.Pausing.Resume(p.Group) }

// Destroy kills the main process, which ends every other one of the sandbox, and waits until the
// watcher has removed the rest. Inner is not asked: it may never answer. It implements
// sandbox.Sandbox.
func (p *Parts) Destroy(ctx context.Context) error {
	if err := p.thaw(p.Group); err != nil {
		return err
	}
	if !p.Main.HasEnded() {
		p.destroyed.Store(true)
	}
	return p.Ending.destroy(ctx, p.Main)
}

// Release closes the control plane's files of the sandbox; the sandbox may live on.
func (p *Parts) Release() {
	p.Making.EndMaking()
	_ = p.Resume(context.Background()) // best effort: the guard does it too
	p.Main.Close()
}

// CountMemoryKills counts the processes of the group that the kernel has ended for their memory, which
// nobody can once the group is removed. A driver calls it where another program removes the group.
func (p *Parts) CountMemoryKills() {
	if p.Group != nil {
		p.memoryKills.Store(max(p.memoryKills.Load(), p.Group.countMemoryKills()))
	}
}

// RemoveGroup kills the processes that are left in the group, and removes the group.
func (p *Parts) RemoveGroup(ctx context.Context) error {
	if p.Group == nil {
		return nil
	}
	p.CountMemoryKills()
	err := KillAll(ctx, p.Group)
	if failed := p.Group.Remove(); err == nil {
		err = failed
	}
	return err
}

// RanOutOfMemory implements sandbox.MemoryBound. A sandbox that ran when it was destroyed had lost
// single programs at most.
func (p *Parts) RanOutOfMemory() bool {
	select {
	case <-p.done:
		return p.memoryKills.Load() > 0 && !p.destroyed.Load()
	default:
		return false
	}
}

func (p *Parts) watch(ctx context.Context, rest Remains) { p.Ending.watch(ctx, p.Main, rest) }

func (p *Parts) removeGone(ctx context.Context, rest Remains, why string) error {
	return p.Ending.removeGone(ctx, p.Main, rest, why)
}
