package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox"

	"golang.org/x/sys/unix"
)

// limiter makes groups of processes with common resource limits.
type limiter interface {
	// name returns the name of the limiter for the level and the handle.
	name() string
	// create makes the group of one sandbox, with its limits.
	create(id string, l sandbox.Limits) (group, error)
	// sweep removes the groups without processes that an earlier control plane of the
	// same data folder left.
	sweep()
}

// limitsV1, limitsV2 and limitsRlimits are the names of the limiters; handles contain
// them.
const (
	limitsV1      = "cgroup v1"
	limitsV2      = "cgroup v2"
	limitsRlimits = "rlimits"
)

// openGroup returns the existing group of a handle, from the name of its limiter and its
// folders.
func openGroup(limits string, dirs []string) group {
	switch {
	case limits == limitsV1:
		return &v1Group{dirs: dirs}
	case limits == limitsV2 && len(dirs) == 1:
		return &v2Group{dir: dirs[0]}
	default:
		return noGroup{}
	}
}

// group is the processes of one sandbox.
type group interface {
	// start calls fork so that the child is in the group from its birth.
	start(fork func(*syscall.SysProcAttr) error) error
	// folders returns the group's folders, from which openGroup finds it again.
	folders() []string
	// processes returns the pids of the group's processes as the host sees them.
	processes() []int
	usage() (sandbox.Usage, error)
	// remove removes the empty group. It is idempotent.
	remove() error
}

// killAll kills the processes in the group until none is left or ctx ends.
func killAll(ctx context.Context, g group) error {
	for {
		pids := g.processes()
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			if err := killAndWait(ctx, pid); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return choir.Wrap("local.kill", choir.CodeTimeout, err, "%d processes of a sandbox would not end", len(pids))
		}
	}
}

// killAndWait kills one process and waits for its end. It does not reap a child of this
// process.
func killAndWait(ctx context.Context, pid int) error {
	if pid == os.Getpid() {
		return choir.E("local.kill", choir.CodeInternal, "a thread of this process is in the group of a sandbox")
	}
	p, err := openProcess(pid, 0)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.kill(); err != nil {
		return err
	}
	return p.wait(ctx)
}

// readPIDs returns the pids in a cgroup.procs file, without zombies and without processes
// of other pid namespaces, which appear as 0. A missing file gives none.
func readPIDs(path string) []int {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil // the group is gone
	}
	var out []int
	for _, f := range strings.Fields(string(raw)) {
		if n, err := strconv.Atoi(f); err == nil && n > 0 && !isZombie(n) {
			out = append(out, n)
		}
	}
	return out
}

func isZombie(pid int) bool {
	s, err := readStat(pid)
	return err != nil || s.state == 'Z'
}

func readNumber(path string) (int64, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
}

// writeKnob writes a value to a file of the cgroup file system. It opens the file without
// O_CREAT and O_TRUNC, which such files need not support.
func writeKnob(path, value string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(value)
	return err
}

// removeGroup removes the folder of an empty group. It retries while the kernel reports
// it as busy, for 200 ms.
func removeGroup(dir string) error {
	const attempts, pause = 200, time.Millisecond
	var err error
	for range attempts {
		err = unix.Rmdir(dir)
		if err == nil || errors.Is(err, unix.ENOENT) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) {
			break
		}
		time.Sleep(pause)
	}
	return choir.Wrap("local.cgroup", choir.CodeInternal, err, "remove the cgroup %s", dir)
}

// sweepBeside removes the empty groups whose path begins with prefix.
func sweepBeside(prefix string) {
	dirs, err := filepath.Glob(prefix + "*")
	if err != nil {
		return // a mount point with a bracket in its name; nothing else is affected
	}
	for _, dir := range dirs {
		unix.Rmdir(dir) // busy when its sandbox lives
	}
}
