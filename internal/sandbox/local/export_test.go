package local

import (
	"path/filepath"

	"choiros/internal/sandbox"
)

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

// GroupsOf lists the cgroup folders of the driver's sandboxes that exist.
func GroupsOf(stateDir string) []string {
	var out []string
	for _, h := range hierarchies() {
		found, err := filepath.Glob(filepath.Join(h.own, groupLabel(stateDir), "*-*"))
		if err != nil {
			panic(err)
		}
		out = append(out, found...)
	}
	return out
}
