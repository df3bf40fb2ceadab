package microvm

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"syscall"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/guest/machine"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// box is one sandbox. Its main process is the monitor.
type box struct {
	*host.Parts
	state   state  // what its handle says
	name    string // its own, empty when recovered
	line    line
	shared  *guest.Mux  // over the only stream of line, where the driver has many; else nil
	child   *os.Process // what was started; nil when recovered
	console *os.File    // nil when recovered
	reaped  bool        // the monitor has ended; of Clear, which closes Main
}

func newBox(s state) *box {
	b := &box{state: s, Parts: host.NewParts(Name, s.Doors), line: serialLine{s.Doors}}
	if s.Facts.VMM == VMMFirecracker {
		b.line = vsockLine{&b.state}
	}
	return b
}

// shareStream makes all streams share the only one of the line, if callers of the driver open
// many: a machine of another monitor may have been made before.
func (b *box) shareStream(c sandbox.Capabilities) {
	if c.Streams && !b.line.many() {
		b.shared = guest.NewMux(b.line.stream)
	}
}

// Dial implements sandbox.Sandbox.
func (b *box) Dial(ctx context.Context) (net.Conn, error) {
	b.Making.EndMaking() // its control plane has its handle
	return b.DialEarly(ctx)
}

// DialEarly does the same for the driver, see host.Parts.
func (b *box) DialEarly(ctx context.Context) (net.Conn, error) {
	if b.shared != nil {
		return b.shared.Dial(ctx)
	}
	return b.line.stream(ctx)
}

var _ host.Box = (*box)(nil)

// Handle implements sandbox.Sandbox.
func (b *box) Handle() sandbox.Handle { return encodeHandle(b.state) }

// Level implements sandbox.Sandbox.
func (b *box) Level() sandbox.Level { return b.state.Facts.level() }

// Usage returns what the machine's kernel counts of the sandbox, and the processor time of
// the whole machine. It implements sandbox.Sandbox.
func (b *box) Usage(ctx context.Context) (sandbox.Usage, error) {
	const op = "microvm.usage"
	if err := b.CheckRunning(op); err != nil {
		return sandbox.Usage{}, err
	}
	mark := make([]byte, machine.MarkBytes)
	rand.Read(mark) // never fails
	text, err := ask(ctx, b.line, machine.AskUsage, mark)
	if err != nil {
		return sandbox.Usage{}, choir.Wrap(op, choir.CodeUnavailable, err, "ask the machine")
	}
	var u sandbox.Usage
	var micros int64
	if _, err := fmt.Sscan(text, &u.Processes, &u.MemoryBytes, &micros); err != nil || u.Processes < 0 || u.MemoryBytes < 0 {
		return sandbox.Usage{}, choir.E(op, choir.CodeUnavailable, "the machine says nothing of what it uses")
	}
	u.MemoryBytes = min(u.MemoryBytes, b.state.Most)
	u.CPUMillis = host.UsageOf(b.state.PID).CPUMillis // the host's own count
	return u, nil
}

// Destroy implements sandbox.Sandbox.
func (b *box) Destroy(ctx context.Context) error {
	if err := b.Resume(ctx); err != nil {
		return err
	}
	return b.Parts.Destroy(ctx)
}

// Pause stops the monitor, and with it the machine, whose clock jumps when it goes on. It
// implements sandbox.Pauser.
func (b *box) Pause(ctx context.Context) error {
	if err := b.CheckRunning("microvm.pause"); err != nil {
		return err
	}
	b.setPaused(true)
	err := b.Parts.Pause(ctx)
	if err != nil {
		b.setPaused(false)
	}
	return err
}

// Resume implements sandbox.Pauser.
func (b *box) Resume(ctx context.Context) error {
	defer b.setPaused(false)
	return b.Parts.Resume(ctx)
}

// setPaused tells the stream that all share that nobody reads it now.
func (b *box) setPaused(paused bool) {
	if b.shared != nil {
		b.shared.SetPaused(paused)
	}
}

// Clear kills the monitor, waits for its end and removes the cgroups and its way in.
func (b *box) Clear(ctx context.Context) error {
	defer b.Release()
	var first error
	if !b.reaped {
		first = b.reap(ctx)
		b.reaped = first == nil
	}
	if err := b.RemoveGroup(ctx); first == nil {
		first = err
	}
	if err := b.line.remove(ctx); first == nil {
		first = err
	}
	return first
}

// reap kills the monitor and waits for its end.
func (b *box) reap(ctx context.Context) error {
	first := b.Main.Kill()
	if b.child != nil {
		b.child.Kill()
		b.child.Wait() // how it ended says nothing that matters
	}
	if b.Main != nil && (b.child == nil || b.child.Pid != b.Main.PID) {
		if err := b.Main.Wait(ctx); err != nil && first == nil {
			first = choir.Wrap("microvm.destroy", choir.CodeTimeout, err, "wait for the end of a machine")
		}
		// A former driver in this same process may have started it.
		syscall.Wait4(b.state.PID, nil, syscall.WNOHANG, nil)
	}
	return first
}

// Release implements host.Remains.
func (b *box) Release() {
	if b.shared != nil {
		b.shared.Close()
	}
	b.Parts.Release()
	b.console.Close()
}
