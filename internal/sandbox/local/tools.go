package local

import (
	"bytes"
	"context"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

var _ sandbox.Toolbox = (*Driver)(nil)

// toolTimeout is the limit on a program that prints its version.
const toolTimeout = 10 * time.Second

// Tools runs each program with its version flag in the namespaces and folders of an
// Associate, without a workspace or doors. It implements sandbox.Toolbox.
func (d *Driver) Tools(ctx context.Context) []sandbox.Check {
	m, err := d.BeginCall()
	if err != nil {
		return []sandbox.Check{sandbox.CheckNoTools(err)}
	}
	defer d.EndCall()
	var checks []sandbox.Check
	for _, tool := range []struct {
		name string
		argv []string
	}{
		{sandbox.ToolCargo, []string{"cargo", "--version"}},
		{sandbox.ToolGo, []string{"go", "version"}},
		{sandbox.ToolNode, []string{"node", "--version"}},
		{sandbox.ToolPython, []string{"python3", "--version"}},
		{sandbox.ToolPytest, []string{"python3", "-c", "import pytest; print(pytest.__version__)"}},
		{sandbox.ToolMake, []string{"make", "--version"}},
		{sandbox.ToolGit, []string{"git", "--version"}},
	} {
		checks = append(checks, m.tool(ctx, tool.name, tool.argv))
	}
	return checks
}

func (m *machine) tool(ctx context.Context, name string, argv []string) sandbox.Check {
	out, err := m.runInside(ctx, argv)
	if err != nil {
		return sandbox.CheckTool(name, "", false)
	}
	first, _, _ := strings.Cut(string(bytes.TrimSpace(out)), "\n")
	return sandbox.CheckTool(name, first, true)
}

// runInside runs one program under bubblewrap with a sandbox's view of the host, without
// choir-init and cgroup, and returns its standard output.
func (m *machine) runInside(ctx context.Context, argv []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	args := slices.Concat(m.commonWorkspace, []string{"--setenv", "PATH", guest.Path(m.cfg.Toolchains), "--setenv", "HOME", "/home/choir", "--chdir", "/home/choir", "--"}, argv)
	cmd := exec.CommandContext(ctx, m.bwrap, args...)
	cmd.Env, cmd.Dir = []string{}, "/"
	var out bytes.Buffer
	cmd.Stdout = &out
	if m.root {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobodyUID, Gid: nobodyUID}}
	}
	err := m.withView(sandbox.Spec{Mounts: []sandbox.Mount{sandbox.Workspace("", sandbox.TransportCopy)}}, cmd.Start)
	if err != nil {
		return nil, err
	}
	err = cmd.Wait()
	return out.Bytes(), err
}
