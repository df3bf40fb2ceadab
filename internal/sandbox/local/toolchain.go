package local

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"

	"golang.org/x/sys/unix"
)

// toolchain is one folder of the host that the Associate sees, at the same path.
type toolchain struct {
	path string // on the host and inside
	// source is the path that bubblewrap binds: the toolchain's own, or where it is
	// bound in a mount namespace of bubblewrap's own. Empty needs no mount, because the
	// path is in /usr.
	source string
}

func (t toolchain) hidden() bool { return t.source != "" && t.source != t.path }

// findToolchains returns how each configured toolchain is mounted into a sandbox. As
// root, each is first bound to a folder below StateDir: the sandbox's host user may not
// enter a folder such as /root, and bubblewrap would bind what is mounted below a
// toolchain as well.
func findToolchains(cfg Config, root bool) ([]toolchain, error) {
	var found []toolchain
	for i, path := range cfg.Toolchains {
		t := toolchain{path: path}
		if !strings.HasPrefix(path, "/usr/") {
			t.source = path
		}
		if t.source != "" && root {
			t.source = filepath.Join(cfg.StateDir, "toolchains", strconv.Itoa(i))
			if err := host.MakePublic(t.source); err != nil {
				return nil, choir.Wrap("local.setup", choir.CodeInternal, err, "make the place of a toolchain")
			}
		}
		found = append(found, t)
	}
	return found, nil
}

// toolchainPoints returns the mount points for toolchains that the root folder must have.
// In /tmp bubblewrap creates them itself.
func toolchainPoints(all []toolchain) []string {
	var points []string
	for _, t := range all {
		if t.source != "" && !strings.HasPrefix(t.path, "/tmp/") {
			points = append(points, strings.TrimPrefix(t.path, "/"))
		}
	}
	return points
}

// toolchainArgs returns the arguments of bubblewrap that mount the toolchains. Landlock
// needs no rule for them, because it restricts only writes.
func toolchainArgs(all []toolchain) []string {
	var args []string
	for _, t := range all {
		if t.source != "" {
			args = append(args, "--ro-bind", t.source, t.path)
		}
	}
	return args
}

// withView calls start, which starts bubblewrap for a spec, in a mount namespace that has
// the sources of the toolchains and the folders below closed ones. The namespace ends
// with bubblewrap, so that a crash leaves no mount behind.
func (m *machine) withView(spec sandbox.Spec, start func() error) error {
	_, has := spec.Workspace()
	var hidden []toolchain
	for _, t := range m.toolchains {
		if t.hidden() && has {
			hidden = append(hidden, t)
		}
	}
	covers := m.coversFor(spec)
	if len(hidden) == 0 && len(covers) == 0 {
		return start()
	}
	return host.OnOwnThread(func() error {
		if err := enterView(hidden, covers); err != nil {
			return err
		}
		return start()
	})
}

// enterView gives this thread a mount namespace in which the toolchains are bound to
// their sources, without the mounts below them, and closed folders are covered.
// Toolchains come first, because they may lie below a covered folder.
func enterView(all []toolchain, covers []cover) error {
	err := ownView()
	for _, t := range all {
		if err == nil {
			err = os.NewSyscallError("mount", unix.Mount(t.path, t.source, "", unix.MS_BIND, ""))
		}
		if err != nil {
			return choir.Refuse("local.create", choir.ReasonLocalNoToolchain, choir.TextOf("path", t.path), choir.TextOf("why", err))
		}
	}
	for _, c := range covers {
		if err == nil {
			err = c.mountOver()
		}
		if err != nil {
			return notShown(c.closed, err)
		}
	}
	return nil
}
