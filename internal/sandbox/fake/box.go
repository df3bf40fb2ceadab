package fake

import (
	"context"
	"net"
	"os"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// box is one sandbox: choir-init's server and its programs.
type box struct {
	machine  *Machine
	id       string
	spec     sandbox.Spec
	folder   string // of the workspace
	programs *programs
	control  *door
	tools    *door // to the egress door
	server   *guest.Server
	ctx      context.Context // ends with the sandbox
	end      context.CancelFunc
	done     chan struct{}
	pauses   pauses
}

// openWorkspace returns the folder of a sandbox's workspace: the host's folder, or a new
// temporary one for a copied workspace.
func openWorkspace(spec sandbox.Spec) (string, error) {
	if m, ok := spec.Workspace(); !ok || m.Transport != sandbox.TransportCopy {
		return m.Folder, nil
	}
	dir, err := os.MkdirTemp("", "choir-fake-workspace-")
	return dir, choir.Wrap("fake.create", choir.CodeUnavailable, err, "make the folder of a workspace")
}

// closeWorkspace removes the temporary folder of a copied workspace.
func (b *box) closeWorkspace() {
	if b.folder != b.spec.WorkspaceFolder() {
		_ = os.RemoveAll(b.folder) // it is a test's, in the folder of temporary files
	}
}

func (m *Machine) newBox(id string, spec sandbox.Spec, folder string) *box {
	b := &box{machine: m, id: id, spec: spec, folder: folder, control: newDoor("control"), tools: newDoor("egress"), done: make(chan struct{})}
	b.ctx, b.end = context.WithCancel(context.Background())
	b.programs = &programs{table: m.cfg.Programs, workspace: folder, tools: b.tools, running: map[int]*process{}, last: 1}
	b.server = guest.NewServer(guest.Config{
		Version: Name, Listener: b.control, Workspace: folder, Orphan: m.cfg.Orphan,
		Allow: func(net.Conn) error { return nil }, Env: guest.Environment(nil, ""), Programs: b.programs,
		Session: []string{Name}, Tools: b.tools, DialPort: noPorts,
	})
	return b
}

// noPorts returns code unavailable; it stands in for connections to ports.
func noPorts(_ context.Context, port int) (net.Conn, error) {
	return nil, choir.E("fake.port", choir.CodeUnavailable, "unsupported: the fake driver opens no port, such as %d", port)
}

// serve runs the server until the sandbox ends, then kills the remaining programs and
// waits for them.
func (b *box) serve() {
	defer close(b.done)
	defer b.machine.forget(b)
	defer b.closeWorkspace()
	defer b.programs.waitForPrograms()
	defer b.programs.kill()
	_ = b.server.Serve(b.ctx) // it was an orphan for too long, or was told to end
	b.end()
}

// destroy ends the sandbox and waits until it has ended. When ctx ends first the error is
// code timeout.
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
