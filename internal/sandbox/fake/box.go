package fake

import (
	"context"
	"net"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// box is one sandbox: choir-init's server with its programs.
type box struct {
	machine  *Machine
	id       string
	spec     sandbox.Spec
	programs *programs
	control  *door
	tools    *door // to the egress door
	server   *guest.Server
	ctx      context.Context // ends with the sandbox
	end      context.CancelFunc
	done     chan struct{}
}

func (m *Machine) newBox(id string, spec sandbox.Spec) *box {
	b := &box{machine: m, id: id, spec: spec, control: newDoor("control"), tools: newDoor("egress"), done: make(chan struct{})}
	b.ctx, b.end = context.WithCancel(context.Background())
	b.programs = &programs{table: m.cfg.Programs, workspace: spec.Workspace, tools: b.tools, running: map[int]*process{}, last: 1}
	b.server = guest.NewServer(guest.Config{
		Version: Name, Listener: b.control, Workspace: spec.Workspace, Orphan: m.cfg.Orphan,
		Allow: func(net.Conn) error { return nil }, Env: guest.Environment(nil), Programs: b.programs,
		Session: []string{Name}, Tools: b.tools, DialPort: noPorts,
	})
	return b
}

// noPorts refuses what would reach a port of the host.
func noPorts(_ context.Context, port int) (net.Conn, error) {
	return nil, choir.E("fake.port", choir.CodeUnavailable, "unsupported: the fake driver opens no port, such as %d", port)
}

// serve runs the server until the sandbox ends, and ends what is left of it.
func (b *box) serve() {
	defer close(b.done)
	defer b.machine.forget(b)
	defer b.programs.waitForPrograms()
	defer b.programs.kill()
	_ = b.server.Serve(b.ctx) // it was an orphan for too long, or was told to end
	b.end()
}

// destroy ends the sandbox and waits for its end.
func (b *box) destroy(ctx context.Context) error {
	b.programs.kill() // first, so that none is asked to end and waited for
	b.end()
	select {
	case <-b.done:
		return nil
	case <-ctx.Done():
		return choir.Wrap("fake.destroy", choir.CodeTimeout, ctx.Err(), "wait for the end of a sandbox")
	}
}
