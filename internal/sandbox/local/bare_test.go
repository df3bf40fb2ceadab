package local

import (
	"os/exec"
	"slices"
	"syscall"

	"choiros/internal/sandbox"
)

// Bare is bubblewrap by itself running a command with the namespaces, folders
// and host user of a sandbox, but without a control door, limits or filter: the
// peer of BenchmarkTTI.
func (d *Driver) Bare(spec sandbox.Spec, argv ...string) (*exec.Cmd, error) {
	m, err := d.Prepare()
	if err != nil {
		return nil, err
	}
	args := slices.Concat(m.commonFor(spec), folderArgs(spec))
	cmd := exec.Command(m.bwrap, append(append(args, "--"), argv...)...)
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.SysProcAttr = m.asHostUser(&syscall.SysProcAttr{}, spec)
	return cmd, nil
}
