package host

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"choiros/internal/choir"
	"choiros/internal/sandbox"

	"golang.org/x/sys/unix"
)

// v2Limiter enforces limits with cgroups version 2, below a folder that this process may
// use.
type v2Limiter struct {
	prefix string // of the paths of its groups
}

// newV2 returns a limiter for cgroups version 2, whose groups have names beginning with
// label; nil if pids, memory and cpu cannot be delegated to groups here. The groups are
// below this process's own group if possible, so that limits on the control plane apply
// to them too, else at the top of the hierarchy.
func newV2(all []hierarchy, label string) *v2Limiter {
	for _, h := range all {
		if h.version != 2 {
			continue
		}
		for _, parent := range []string{withoutLeaf(h.own), h.top} {
			if unix.Access(parent, unix.W_OK) == nil && handDown(parent) == nil {
				return &v2Limiter{prefix: filepath.Join(parent, label) + "-"}
			}
		}
	}
	return nil
}

// handDown enables the controllers pids, memory and cpu for the groups below dir. The
// kernel allows that only in a group without processes of its own (cgroups(7), "no
// internal processes"), so it may first move this process one level down.
func handDown(dir string) error {
	knob := filepath.Join(dir, "cgroup.subtree_control")
	have, err := os.ReadFile(knob)
	if err != nil {
		return err
	}
	want := []string{"pids", "memory", "cpu"}
	if containsAll(strings.Fields(string(have)), want) {
		return nil
	}
	offered, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return err
	}
	if !containsAll(strings.Fields(string(offered)), want) {
		return fmt.Errorf("%s offers only %q", dir, bytes.TrimSpace(offered))
	}
	enable := "+" + strings.Join(want, " +")
	if writeKnob(knob, enable) == nil {
		return nil
	}
	if err := stepAside(dir); err != nil {
		return err
	}
	return writeKnob(knob, enable)
}

// controlLeaf is the name of the group that the control plane moves itself into.
const controlLeaf = "choir-control"

// withoutLeaf returns own, or its parent if own is the group that this process or its
// starter moved into, so that sandboxes do not lie one level deeper with each start.
func withoutLeaf(own string) string {
	if filepath.Base(own) == controlLeaf {
		return filepath.Dir(own)
	}
	return own
}

// stepAside moves this process into a new group below dir. It returns an error if other
// processes are in dir.
func stepAside(dir string) error {
	pids, err := readPIDs(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return err
	}
	if !slices.Equal(pids, []int{os.Getpid()}) {
		return fmt.Errorf("%s holds processes that are not ours", dir)
	}
	leaf := filepath.Join(dir, controlLeaf)
	if err := os.Mkdir(leaf, 0o755); err != nil && !isDir(leaf) {
		return err
	}
	return writeKnob(filepath.Join(leaf, "cgroup.procs"), "0")
}

func (l *v2Limiter) Name() string { return LimitsV2 }

func (l *v2Limiter) Sweep() { sweepBeside(l.prefix) }

func (l *v2Limiter) Create(id string, limits sandbox.Limits) (Group, error) {
	g := &v2Group{dir: l.prefix + id, before: refusedForks(filepath.Dir(l.prefix))}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, choir.Wrap("host.cgroup", choir.CodeUnavailable, err, "make a sandbox's cgroup")
	}
	for name, value := range Sorted(map[string]string{
		"pids.max":   strconv.Itoa(limits.Processes),
		"memory.max": strconv.FormatInt(limits.MemoryBytes, 10),
		"cpu.max":    fmt.Sprintf("%d %d", limits.CPUMilli*cpuPeriodUS/1000, cpuPeriodUS),
	}) {
		if err := writeKnob(filepath.Join(g.dir, name), value); err != nil {
			g.Remove()
			return nil, choir.Wrap("host.cgroup", choir.CodeUnavailable, err, "set %s of a sandbox", name)
		}
	}
	// Only where the kernel counts swap; then it must not be a way around.
	if err := writeKnob(filepath.Join(g.dir, "memory.swap.max"), "0"); err != nil && !os.IsNotExist(err) {
		g.Remove()
		return nil, choir.Wrap("host.cgroup", choir.CodeUnavailable, err, "forbid a sandbox to swap")
	}
	return g, nil
}

type v2Group struct {
	dir    string
	before int64 // refusedForks of the group around it when it was made
}

func (g *v2Group) Folders() []string { return []string{g.dir} }

// Start makes fork create the child in the group (CLONE_INTO_CGROUP).
func (g *v2Group) Start(fork func(*syscall.SysProcAttr) error) error {
	dir, err := os.Open(g.dir)
	if err != nil {
		return choir.Wrap("host.cgroup", choir.CodeUnavailable, err, "open a sandbox's cgroup")
	}
	defer dir.Close()
	return fork(&syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd())})
}

func (g *v2Group) Processes() ([]int, error) { return readPIDs(filepath.Join(g.dir, "cgroup.procs")) }

func (g *v2Group) Usage() (sandbox.Usage, error) {
	n, err := readNumber(filepath.Join(g.dir, "pids.current"))
	if err != nil {
		return sandbox.Usage{}, choir.Wrap("host.usage", choir.CodeNotFound, err, "measure a sandbox")
	}
	u := sandbox.Usage{Processes: int(n)}
	if n, err = readNumber(filepath.Join(g.dir, "memory.current")); err == nil {
		u.MemoryBytes = n
	}
	raw, err := os.ReadFile(filepath.Join(g.dir, "cpu.stat"))
	if err == nil {
		u.CPUMillis = usageMillis(string(raw))
	}
	return u, nil
}

// usageMillis returns the CPU time in the text of cpu.stat (usage_usec) in milliseconds;
// 0 if it is missing.
func usageMillis(stat string) int64 {
	for line := range strings.Lines(stat) {
		if value, ok := strings.CutPrefix(line, "usage_usec "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64) // 0 when the kernel changed its format
			return n / 1000
		}
	}
	return 0
}

func (g *v2Group) Remove() error { return removeGroup(g.dir) }
