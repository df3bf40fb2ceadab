package local

import (
	"os"
	"strconv"
	"strings"

	"choiros/internal/sandbox"
)

// find looks for the sandbox of a handle. Its init is nil when it has ended.
func (m *machine) find(s state) *box {
	b := newBox(s, m.root)
	b.group = openGroup(s.Limits, s.Groups)
	if s.Boot != m.bootID {
		return b // the machine was restarted; the numbers name others now
	}
	if p, err := hold(s.Init.PID, s.Init.Start); err == nil {
		b.init = p
	}
	if p, err := hold(s.Monitor.PID, s.Monitor.Start); err == nil && s.Monitor.Start != 0 {
		b.outer = p
	}
	return b
}

// usageOf adds up a process and all below it, where there is no cgroup to ask.
func usageOf(pid int) sandbox.Usage {
	const ticksPerSecond = 100 // USER_HZ, the same on every Linux
	var u sandbox.Usage
	for _, p := range descendants(pid) {
		statm, err := os.ReadFile("/proc/" + strconv.Itoa(p) + "/statm")
		if err != nil {
			continue // it has ended
		}
		u.Processes++
		if fields := strings.Fields(string(statm)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64) // the kernel writes numbers
			u.MemoryBytes += pages * int64(os.Getpagesize())
		}
		if s, err := readStat(p); err == nil {
			u.CPUMillis += int64(s.cpuTicks) * 1000 / ticksPerSecond
		}
	}
	return u
}
