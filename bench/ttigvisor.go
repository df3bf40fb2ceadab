package bench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox/gvisor"
)

const runscPeer = "runsc do running the same command"

// benchGvisorTTI measures the time to the first command's output in a sandbox of gVisor,
// beside bare runsc.
func benchGvisorTTI(ctx context.Context, l *lab, emit func(Row)) error {
	const name = "gvisor, sequential"
	driver := gvisor.New(gvisor.Config{StateDir: filepath.Join(l.dir, "gvisor")})
	if why := cannotIsolate(ctx, driver); why != "" {
		emit(Row{Case: name, Unit: "ms", Peer: runscPeer, Skipped: why})
		return driver.Close()
	}
	other := *l
	other.driver = driver
	row, err := turns{n: l.count(20), warmup: l.count(2), ours: other.coldStart, peer: l.bareRunsc}.measure(ctx,
		Row{Case: name, Unit: "ms", Peer: runscPeer, Isolated: true})
	l.folders = other.folders
	if err == nil {
		emit(row)
	}
	return errors.Join(err, driver.Close())
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
