package host

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

// Limiter makes groups of processes with common resource limits.
type Limiter interface {
	// Name returns the name of the limiter for the level and the handle.
	Name() string
	// Create makes the group of one sandbox, with its limits.
	Create(id string, l sandbox.Limits) (Group, error)
	// Sweep removes the groups without processes that an earlier control plane of the
	// same data folder left.
	Sweep()
}

// LimitsV1, LimitsV2 and LimitsRlimits are the names of the limiters; handles contain
// them.
const (
	LimitsV1      = "cgroup v1"
	LimitsV2      = "cgroup v2"
	LimitsRlimits = "rlimits"
)

// OpenGroup returns the existing group of a handle, from the name of its limiter and its
// folders.
func OpenGroup(limits string, dirs []string) Group {
	switch {
	case limits == LimitsV1:
		return &v1Group{dirs: dirs}
	case limits == LimitsV2 && len(dirs) == 1:
		return &v2Group{dir: dirs[0]}
	default:
		return noGroup{}
	}
}

// Group is the processes of one sandbox.
type Group interface {
	// Start calls fork so that the child is in the group from its birth.
	Start(fork func(*syscall.SysProcAttr) error) error
	// Folders returns the group's folders, from which openGroup finds it again.
	Folders() []string
	// Processes returns the pids of the group's processes as the host sees them; none if the
	// group is gone. An error means that they could not be read.
	Processes() ([]int, error)
	Usage() (sandbox.Usage, error)
	// Remove removes the empty group. It is idempotent.
	Remove() error
	// findFreezer returns how the group is stopped as a whole. The error is errNoFreezer if it cannot
	// be stopped or is gone; after another one it may stand still.
	findFreezer() (freezer, error)
	// findShortage returns the reason by which the kernel refused a process of the group
	// something since it was made: process ids or memory. It is empty for none.
	findShortage() choir.Reason
	// countMemoryKills returns how many processes of the group the kernel has ended for their
	// memory.
	countMemoryKills() int64
}

// KillAll kills the processes in the group, paused or not, until none is left or ctx ends.
func KillAll(ctx context.Context, g Group) error {
	if err := resumeGroup(g); err != nil {
		return err
	}
	for {
		pids, err := g.Processes()
		if err != nil {
			return choir.Wrap("host.kill", choir.CodeUnavailable, err, "list the processes of a sandbox")
		}
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			if err := KillAndWait(ctx, pid); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return choir.Wrap("host.kill", choir.CodeTimeout, err, "%d processes of a sandbox would not end", len(pids))
		}
	}
}

// KillAndWait kills one process and waits for its end. It does not reap a child of this
// process.
func KillAndWait(ctx context.Context, pid int) error {
	if pid == os.Getpid() {
		return choir.E("host.kill", choir.CodeInternal, "a thread of this process is in the group of a sandbox")
	}
	p, err := OpenProcess(pid, 0)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Kill(); err != nil {
		return err
	}
	return p.Wait(ctx)
}

// readPIDs returns the pids in a cgroup.procs file, without zombies and without processes
// of other pid namespaces, which appear as 0. The file of a group that is gone gives none.
func readPIDs(path string) ([]int, error) {
	raw, err := os.ReadFile(path)
	if groupGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []int
	for _, f := range strings.Fields(string(raw)) {
		if n, err := strconv.Atoi(f); err == nil && n > 0 && !isZombie(n) {
			out = append(out, n)
		}
	}
	return out, nil
}

// isZombie reports whether a process has ended; false if that could not be found out.
func isZombie(pid int) bool {
	s, err := ReadStat(pid)
	return choir.CodeOf(err) == choir.CodeNotFound || s.State == 'Z'
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
	return choir.Wrap("host.cgroup", choir.CodeInternal, err, "remove the cgroup %s", dir)
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
