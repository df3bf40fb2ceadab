package gvisor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// Probe implements sandbox.Driver.
func (d *Driver) Probe(ctx context.Context) sandbox.Report {
	r := sandbox.Report{Driver: Name, Usable: true}
	runsc, check := probeRunsc(ctx, d.cfg)
	r.Checks = append(r.Checks, check, probeRoot())
	if check.OK && os.Geteuid() == 0 {
		r.Checks = append(r.Checks, probeSentry(ctx, runsc))
	}
	limits := host.FindLimiter(d.cfg.WithoutCgroups, host.GroupLabel(d.cfg.StateDir)).Name()
	r.Level = levelOf(limits, false, filesAllowed())
	r.Checks = append(r.Checks, probeLimits(limits))
	for _, c := range r.Checks {
		r.Usable = r.Usable && (c.OK || !c.Required)
	}
	return r
}

func probeRunsc(ctx context.Context, cfg Config) (string, sandbox.Check) {
	c := sandbox.Check{Name: "runsc", Required: true}.AddRemedy(remedyRunsc)
	path, err := findRunsc(cfg)
	if err != nil {
		c.Detail = "runsc is not in PATH"
		if cfg.Runsc != "" {
			c.Detail = cfg.Runsc + " is no program that can be run"
		}
		return "", c
	}
	out, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	first, _, _ := strings.Cut(string(bytes.TrimSpace(out)), "\n")
	c.Detail = path + ", " + first
	if err != nil || !strings.HasPrefix(first, "runsc version") {
		c.Detail = fmt.Sprintf("%s does not say its version: %v", path, err)
		return path, c
	}
	c.OK = true
	c = c.AddRemedy(choir.Told{})
	return path, c
}

func probeRoot() sandbox.Check {
	if os.Geteuid() == 0 {
		return sandbox.Check{Name: "host user", OK: true, Required: true}.AddDetail(sandbox.OwnUser)
	}
	return sandbox.Check{Name: "host user", Required: true, Detail: "this driver needs a control plane that is root", Remedy: remedyRoot}
}

// probeSentry starts a sandbox that ends at once, with the flags of every sandbox.
func probeSentry(ctx context.Context, runsc string) sandbox.Check {
	c := sandbox.Check{Name: "sentry", Required: true}
	out, err := runDo(ctx, runsc, "/usr/bin/true")
	if err != nil {
		c.Detail = fmt.Sprintf("runsc starts no sandbox: %v: %s", err, bytes.TrimSpace(out))
		c.Remedy = "see what runsc says with: " + runsc + " --network=none --ignore-cgroups do /usr/bin/true"
		return c
	}
	c.OK, c.Detail = true, "a program was run in a sandbox, on the platform systrap"
	return c
}

// runDo runs one program with the host's own files, read-only, and returns its output.
func runDo(ctx context.Context, runsc string, argv ...string) ([]byte, error) {
	state, err := os.MkdirTemp("", "choir-runsc-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(state)
	args := append(commonFlags(filepath.Join(state, "state")), "do", "--cwd=/")
	cmd := exec.CommandContext(ctx, runsc, append(args, argv...)...)
	cmd.Env, cmd.Dir = []string{}, "/"
	return cmd.CombinedOutput()
}

func probeLimits(limits string) sandbox.Check {
	c := sandbox.Check{Name: "limits", OK: limits != host.LimitsRlimits, Detail: levelOf(limits, true, filesAllowed()).Limits}
	if !c.OK {
		c.Remedy = remedyCgroups
	}
	return c
}
