package local

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// nobodyUID is the user of probes when the control plane is root, so that they run
// unprivileged.
const nobodyUID = 65534

// Probe implements sandbox.Driver.
func (d *Driver) Probe(ctx context.Context) sandbox.Report {
	r := sandbox.Report{Driver: Name, Usable: true}
	bwrap, check := probeBwrap(ctx, d.cfg)
	r.Checks = append(r.Checks, check)
	if check.OK {
		made := probeNamespaces(ctx, bwrap)
		r.Checks = append(r.Checks, made)
		if made.OK { // or bubblewrap never comes to the filter
			r.Checks = append(r.Checks, probeFilter(ctx, bwrap))
		}
	}
	m := &machine{root: os.Geteuid() == 0, limits: host.FindLimiter(d.cfg.WithoutCgroups, host.GroupLabel(d.cfg.StateDir))}
	r.Checks = append(r.Checks, probeLimits(m), probeHostUser(m), probeLandlock())
	if c, needed := probeReach(d.cfg, m.root); needed {
		r.Checks = append(r.Checks, c)
	}
	r.Level = levelOf(m.limits.Name(), m.root, host.LandlockVersion(), false, m.root)
	for _, c := range r.Checks {
		r.Usable = r.Usable && (c.OK || !c.Required)
	}
	return r
}

func probeBwrap(ctx context.Context, cfg Config) (string, sandbox.Check) {
	c := sandbox.Check{Name: "bubblewrap", Required: true}.AddRemedy(remedyBwrap)
	path, err := findBwrap(cfg)
	if err != nil {
		return "", c.AddDetail(choir.TellSentence("told.noBwrap", "bwrap is not in PATH"))
	}
	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	c.Detail = path + ", " + strings.TrimSpace(string(out))
	var major, minor int
	_, scanErr := fmt.Sscanf(string(out), "bubblewrap %d.%d", &major, &minor)
	// 0.8 brought --size and --disable-userns.
	if err == nil && scanErr == nil && (major > 0 || minor >= 8) {
		c = c.AddRemedy(choir.Told{})
		c.OK = true
	} else {
		c.Detail += " (0.8 or newer is needed)"
	}
	return path, c
}

// probeNamespaces checks whether all namespaces can be created, by running a program in
// them.
func probeNamespaces(ctx context.Context, bwrap string) sandbox.Check {
	c := sandbox.Check{Name: "namespaces", Required: true}
	err := runTrue(ctx, bwrap, nil)
	if err == nil {
		c.OK = true
		return c.AddDetail(choir.TellSentence("told.namespaces", "user, mount, pid, net, uts, ipc and cgroup namespaces can be made without privilege"))
	}
	return c.AddDetail(choir.TellSentence("told.bwrapFails", "bubblewrap failed: {why}", choir.LinesOf("why", err))).AddRemedy(sandbox.AllowNamespaces)
}

func probeFilter(ctx context.Context, bwrap string) sandbox.Check {
	c := sandbox.Check{Name: "seccomp", Required: true}
	f, err := filterFile()
	if err == nil {
		defer f.Close()
		// The position of a new file in memory is still at its beginning.
		err = runTrue(ctx, bwrap, f, "--seccomp", "3")
	}
	if err != nil {
		return c.AddDetail(choir.TellSentence("told.seccompFails", "the filter could not be loaded: {why}", choir.LinesOf("why", err))).
			AddRemedy(choir.TellSentence("told.seccompKernel", "use a kernel built with CONFIG_SECCOMP_FILTER"))
	}
	c.OK = true
	return c.AddDetail(choir.TellSentence("told.seccomp", "a filter with {rules} rules is in force", choir.CountOf("rules", host.SeccompRules())))
}

// runTrue runs /usr/bin/true under bubblewrap as an unprivileged user, on the host's own
// root folder, with an optional extra file and further arguments. An error includes the
// output.
func runTrue(ctx context.Context, bwrap string, extra *os.File, more ...string) error {
	args := append([]string{
		"--unshare-all", "--unshare-user", "--disable-userns", "--as-pid-1", "--new-session",
		"--uid", strconv.Itoa(sandbox.InsideUID), "--gid", strconv.Itoa(sandbox.InsideGID), "--cap-drop", "ALL",
		"--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--size", "4096", "--tmpfs", "/tmp",
	}, more...)
	cmd := exec.CommandContext(ctx, bwrap, append(args, "--", "/usr/bin/true")...)
	cmd.Env, cmd.Dir = []string{}, "/"
	if extra != nil {
		cmd.ExtraFiles = []*os.File{extra}
	}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobodyUID, Gid: nobodyUID}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) > 0 {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return err
}

func probeLimits(m *machine) sandbox.Check {
	c := sandbox.Check{Name: "limits", OK: m.cgroups(), Detail: levelOf(m.limits.Name(), m.root, host.LandlockVersion(), false, m.root).Limits}
	if !c.OK {
		c = c.AddRemedy(remedyCgroups)
	}
	return c
}

func probeHostUser(m *machine) sandbox.Check {
	if m.root {
		return sandbox.Check{Name: "host user", OK: true}.AddDetail(sandbox.OwnUser)
	}
	return sandbox.Check{Name: "host user"}.AddDetail(sandbox.ChoirUser).AddRemedy(sandbox.RunAsRoot)
}

func probeLandlock() sandbox.Check {
	c := sandbox.Check{Name: "landlock", OK: host.HasLandlock()}
	version := choir.CountOf("version", host.LandlockVersion())
	if c.OK {
		return c.AddDetail(choir.TellSentence("told.landlock", "version {version} is in force", version))
	}
	return c.AddDetail(choir.TellSentence("told.landlockOld", "this kernel has version {version}, and {needed} is needed; the mounts alone decide what can be written",
		version, choir.CountOf("needed", host.LandlockNeeded)))
}
