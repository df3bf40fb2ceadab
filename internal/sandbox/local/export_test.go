package local

import "choiros/internal/sandbox"

// BareArgs is bubblewrap's command line with the same folders as a sandbox,
// for comparison.
func BareArgs(d *Driver, spec sandbox.Spec) ([]string, error) {
	m, err := d.setUp()
	if err != nil {
		return nil, err
	}
	args := append([]string{m.bwrap}, m.common...)
	args = append(args, "--ro-bind", spec.Doors, sandbox.DoorsInside, "--ro-bind", spec.Guest, sandbox.GuestInside)
	args = append(args, "--bind", spec.Workspace, sandbox.WorkspaceInside, "--remount-ro", "/", "--chdir", sandbox.WorkspaceInside)
	return args, nil
}

// InitPID is the number of choir-init on the host.
func InitPID(b sandbox.Sandbox) int { return b.(*box).init.pid }
