package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"choiros/internal/choir"

	"golang.org/x/sys/unix"
)

// shortages are the signs that the machine lacked something while a sandbox was made: the
// errors of this process, and the words of programs that ended for it, in small letters. The
// words of the Go runtime stand first, because it ends with "out of memory" in other cases too.
var shortages = []struct {
	reason choir.Reason
	errors []error
	words  []string
}{
	{choir.ReasonHostNoProcesses, []error{unix.EAGAIN}, []string{"resource temporarily unavailable", "failed to create new os thread"}},
	{choir.ReasonHostNoFiles, []error{unix.EMFILE, unix.ENFILE}, []string{"too many open files"}},
	{choir.ReasonHostNoSpace, []error{unix.ENOSPC, unix.EDQUOT}, []string{"no space left on device", "disk quota exceeded"}},
	{choir.ReasonHostNoMemory, []error{unix.ENOMEM}, []string{"cannot allocate memory", "out of memory"}},
}

// NameShortage returns the error of a creation with a shortage as its reason, and err itself if
// there was none. A reason that the kernel counted, which may be empty, goes before the signs in
// the error and in the output of programs.
func NameShortage(op string, err error, counted choir.Reason) error {
	if err == nil || isShortage(err) {
		return err
	}
	if counted != "" {
		return shortageOf(op, counted, err)
	}
	said := strings.ToLower(err.Error())
	for _, s := range shortages {
		is := func(e error) bool { return errors.Is(err, e) }
		if slices.ContainsFunc(s.errors, is) || slices.ContainsFunc(s.words, func(w string) bool { return strings.Contains(said, w) }) {
			return shortageOf(op, s.reason, err)
		}
	}
	return err
}

func shortageOf(op string, reason choir.Reason, err error) error {
	e := choir.Refuse(op, reason)
	e.Err = err
	return e
}

func isShortage(err error) bool {
	reason, _ := choir.ReasonOf(err)
	for _, s := range shortages {
		if s.reason == reason {
			return true
		}
	}
	return false
}

// findShortage implements Group. The counts are of the processes of the group itself, whichever
// group around it had the limit.
func (g *v1Group) findShortage() choir.Reason {
	for _, dir := range g.dirs {
		if countOf(filepath.Join(dir, "pids.events"), "max") > 0 {
			return choir.ReasonHostNoProcesses
		}
	}
	if g.countMemoryKills() > 0 {
		return choir.ReasonHostNoMemory
	}
	return ""
}

// countMemoryKills implements Group.
func (g *v1Group) countMemoryKills() (n int64) {
	for _, dir := range g.dirs {
		n += countOf(filepath.Join(dir, "memory.oom_control"), "oom_kill")
	}
	return n
}

// findShortage implements Group. Since Linux 6.10 forks are counted in the group that has the
// limit and those around it, before in the one of the process.
func (g *v2Group) findShortage() choir.Reason {
	switch {
	case countOf(filepath.Join(g.dir, "pids.events"), "max") > 0, refusedForks(filepath.Dir(g.dir)) > g.before:
		return choir.ReasonHostNoProcesses
	case g.countMemoryKills() > 0:
		return choir.ReasonHostNoMemory
	}
	return ""
}

// countMemoryKills implements Group.
func (g *v2Group) countMemoryKills() int64 {
	return countOf(filepath.Join(g.dir, "memory.events"), "oom_kill")
}

// countMemoryKills implements Group: nothing is counted without cgroups.
func (noGroup) countMemoryKills() int64 { return 0 }

// refusedForks returns how many forks the limits of a version 2 group and those around it have
// refused.
func refusedForks(dir string) (n int64) {
	for ; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "pids.events")
		if _, err := os.Stat(path); err != nil {
			return n // the top of the hierarchy
		}
		n += countOf(path, "max")
	}
}

// countOf returns a count in a file of lines with a name and a number; 0 if it is not there.
func countOf(path, name string) int64 {
	raw, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64) // 0 when the kernel changed its format
			return n
		}
	}
	return 0
}

// FindShortage returns the reason by which the kernel refused a process of a group something
// since the group was made; empty for none, and for no group.
func FindShortage(g Group) choir.Reason {
	if g == nil {
		return ""
	}
	return g.findShortage()
}

// Shortages are counts of what the kernel refused in the cgroups of a process, see
// CountShortages.
type Shortages struct {
	groups       []hierarchy
	forks, kills int64
}

// CountShortages counts the processes and threads that the kernel has refused in the cgroups of a
// process, or by the limits of those around it, and the processes it has ended for their memory.
func CountShortages(pid int) Shortages {
	s := Shortages{groups: hierarchiesOf(pid)}
	s.forks, s.kills = s.count()
	return s
}

// Since returns the reason by which the kernel has refused something since the counting; empty
// for none.
func (s Shortages) Since() choir.Reason {
	forks, kills := s.count()
	switch {
	case forks > s.forks:
		return choir.ReasonHostNoProcesses
	case kills > s.kills:
		return choir.ReasonHostNoMemory
	}
	return ""
}

func (s Shortages) count() (forks, kills int64) {
	for _, h := range s.groups {
		if h.version == 2 {
			forks += refusedForks(h.own)
			kills += countOf(filepath.Join(h.own, "memory.events"), "oom_kill")
			continue
		}
		forks += countOf(filepath.Join(h.own, "pids.events"), "max")
		kills += countOf(filepath.Join(h.own, "memory.oom_control"), "oom_kill")
	}
	return forks, kills
}
