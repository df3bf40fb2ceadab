package bench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox/gvisor"
)

const runscPeer = "runsc do running the same command"

// benchGvisorTTI measures the time to the first command's output in sandboxes of gVisor,
// beside bare runsc.
func benchGvisorTTI(ctx context.Context, l *lab, emit func(Row)) error {
	driver := gvisor.New(gvisor.Config{StateDir: filepath.Join(l.dir, gvisor.Name)})
	return l.benchRungTTI(ctx, rungTTI{
		driver: driver, why: cannotIsolate(ctx, driver), about: runscPeer, peer: l.bareRunsc, n: l.count(20), burst: burstSize(l),
	}, emit)
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
