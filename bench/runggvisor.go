package bench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"choiros/bench/attacks"
	"choiros/internal/choir"
	"choiros/internal/sandbox/gvisor"
)

const runscPeer = "runsc do running the same command"

// findGvisor returns the rung of gVisor, beside bare runsc.
func (l *lab) findGvisor(ctx context.Context) (rung, error) {
	driver := gvisor.New(gvisor.Config{StateDir: filepath.Join(l.dir, gvisor.Name)})
	return rung{
		driver: driver, why: cannotIsolate(ctx, driver), settings: attacks.RungSettings(gvisor.Name, ""),
		about: runscPeer, peer: l.bareRunsc, held: "runsc do running cat", hold: l.holdRunsc,
		starts: l.count(20), burst: burstSize(l), wakes: l.count(20), computers: l.count(10),
	}, nil
}

// holdRunsc starts a sandbox of runsc's own making in which cat waits.
func (l *lab) holdRunsc(ctx context.Context) (func(), error) {
	state, err := os.MkdirTemp(l.dir, "runsc-")
	if err != nil {
		return nil, choir.Wrap("bench.density", choir.CodeUnavailable, err, "make a folder for runsc")
	}
	return holdCat(exec.CommandContext(ctx, "runsc", "--root="+state, "--network=none", "--ignore-cgroups", "do", "--", "/bin/cat"))
}

// bareRunsc runs the first command in a sandbox of runsc's own making, over this machine's
// root folder.
func (l *lab) bareRunsc(ctx context.Context) (float64, error) {
	state, err := os.MkdirTemp(l.dir, "runsc-")
	if err != nil {
		return 0, choir.Wrap("bench.tti", choir.CodeUnavailable, err, "make a folder for runsc")
	}
	defer os.RemoveAll(state) // the lab's folder is cleared away too
	args := append([]string{"--root=" + state, "--network=none", "--ignore-cgroups", "do", "--"}, firstCommand...)
	cmd := exec.CommandContext(ctx, "runsc", args...)
	began := time.Now()
	out, err := cmd.Output()
	took := time.Since(began)
	if err == nil && string(out) != "choir\n" {
		err = choir.E("bench.tti", choir.CodeInternal, "runsc said %q", out)
	}
	return millis(took), choir.Wrap("bench.tti", choir.CodeUnavailable, err, "start bare runsc")
}
