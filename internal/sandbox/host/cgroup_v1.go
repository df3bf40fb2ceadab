package host

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"choiros/internal/choir"
	"choiros/internal/sandbox"

	"golang.org/x/sys/unix"
)

// cpuPeriodUS is the period of the CPU limit in microseconds.
const cpuPeriodUS = 100_000

// v1Limiter enforces limits with the controllers of cgroups version 1.
type v1Limiter struct {
	parents []v1Parent
}

// v1Parent is one hierarchy. Its groups are below this process's own group, so that
// limits on the control plane as a whole apply to them too.
type v1Parent struct {
	controllers []string
	own         string // this process's folder, where threads return to
	prefix      string // of the paths of its groups
}

// newV1 returns a limiter for the version 1 hierarchies, whose groups have names
// beginning with label; nil if a needed controller is missing or not writable.
func newV1(all []hierarchy, label string) *v1Limiter {
	l := &v1Limiter{}
	found := map[string]bool{}
	for _, h := range all {
		if h.version != 1 || !slices.ContainsFunc(h.controllers, usesV1) {
			continue
		}
		if unix.Access(h.own, unix.W_OK) != nil || checkWritable(filepath.Join(h.own, "tasks")) != nil {
			continue
		}
		for _, c := range h.controllers {
			found[c] = true
		}
		l.parents = append(l.parents, v1Parent{
			controllers: h.controllers, own: h.own, prefix: filepath.Join(h.own, label) + "-",
		})
	}
	if !found["pids"] || !found["memory"] || !found["cpu"] {
		return nil
	}
	return l
}

func usesV1(controller string) bool {
	return slices.Contains([]string{"pids", "memory", "cpu", "cpuacct", "freezer"}, controller)
}

// checkWritable opens a file for writing and closes it. It returns the error of the opening.
func checkWritable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		f.Close()
	}
	return err
}

func (l *v1Limiter) Name() string { return LimitsV1 }

func (l *v1Limiter) Sweep() {
	for _, p := range l.parents {
		sweepBeside(p.prefix)
	}
}

func (l *v1Limiter) Create(id string, limits sandbox.Limits) (Group, error) {
	g := &v1Group{parents: l.parents}
	for _, p := range l.parents {
		dir := p.prefix + id
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			g.dirs = append(g.dirs, dir)
			err = setV1(dir, p.controllers, limits)
		}
		if err != nil {
			g.Remove()
			return nil, choir.Wrap("host.cgroup", choir.CodeUnavailable, err, "limit a sandbox by the cgroup %s", dir)
		}
	}
	return g, nil
}

// setV1 writes the limits of the given controllers in a group's folder.
func setV1(dir string, controllers []string, l sandbox.Limits) error {
	for _, c := range controllers {
		var err error
		switch c {
		case "pids":
			err = writeKnob(filepath.Join(dir, "pids.max"), strconv.Itoa(l.Processes))
		case "memory":
			err = writeKnob(filepath.Join(dir, "memory.limit_in_bytes"), strconv.FormatInt(l.MemoryBytes, 10))
			if err == nil {
				err = limitSwapV1(dir, l)
			}
		case "cpu":
			err = writeKnob(filepath.Join(dir, "cpu.cfs_quota_us"), strconv.Itoa(l.CPUMilli*cpuPeriodUS/1000))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// limitSwapV1 limits memory and swap together to the memory limit, if the kernel accounts
// for swap.
func limitSwapV1(dir string, l sandbox.Limits) error {
	err := writeKnob(filepath.Join(dir, "memory.memsw.limit_in_bytes"), strconv.FormatInt(l.MemoryBytes, 10))
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

type v1Group struct {
	parents []v1Parent // for start; without them nothing can be started
	dirs    []string
}

func (g *v1Group) Folders() []string { return g.dirs }

// Start moves a thread of this process into the group, forks there, and moves it back, so
// that the child is in the group from its birth. The thread is never the main thread,
// whose group counts as that of the whole process.
func (g *v1Group) Start(fork func(*syscall.SysProcAttr) error) error {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		defer runtime.UnlockOSThread()
		return OnOwnThread(func() error { return g.startHere(fork) }) // this thread is held, so it gets another
	}
	err := g.startHere(fork)
	runtime.UnlockOSThread()
	return err
}

// startHere forks on the calling goroutine's thread, see start. The caller has locked the
// thread.
func (g *v1Group) startHere(fork func(*syscall.SysProcAttr) error) error {
	runtime.LockOSThread()
	err := g.joinGroup()
	if err == nil {
		err = fork(&syscall.SysProcAttr{})
	}
	if g.leave() == nil {
		runtime.UnlockOSThread()
	} // else no other goroutine gets this thread, and it ends with this one
	return err
}

// joinGroup moves the calling thread into the group.
func (g *v1Group) joinGroup() error {
	for _, dir := range g.dirs {
		if err := writeKnob(filepath.Join(dir, "tasks"), "0"); err != nil {
			return choir.Wrap("host.cgroup", choir.CodeUnavailable, err, "enter the cgroup %s", dir)
		}
	}
	return nil
}

func (g *v1Group) leave() error {
	for _, p := range g.parents {
		if err := writeKnob(filepath.Join(p.own, "tasks"), "0"); err != nil {
			return err
		}
	}
	return nil
}

func (g *v1Group) Processes() ([]int, error) {
	if len(g.dirs) == 0 {
		return nil, nil
	}
	return readPIDs(filepath.Join(g.dirs[0], "cgroup.procs"))
}

func (g *v1Group) Usage() (sandbox.Usage, error) {
	var u sandbox.Usage
	for _, dir := range g.dirs {
		if n, err := readNumber(filepath.Join(dir, "pids.current")); err == nil {
			u.Processes = int(n)
		}
		if n, err := readNumber(filepath.Join(dir, "memory.usage_in_bytes")); err == nil {
			u.MemoryBytes = n
		}
		if n, err := readNumber(filepath.Join(dir, "cpuacct.usage")); err == nil {
			u.CPUMillis = n / 1_000_000
		}
	}
	return u, nil
}

func (g *v1Group) Remove() error {
	var first error
	for _, dir := range g.dirs {
		if err := removeGroup(dir); err != nil && first == nil {
			first = err
		}
	}
	return first
}
