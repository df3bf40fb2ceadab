package local

import (
	"os"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// find returns the sandbox of a handle; its init is nil if it has ended. An error means
// that the sandbox may live but cannot be opened.
func (m *machine) find(s state) (*box, error) {
	b := newBox(s, m.root)
	b.group = openGroup(s.Limits, s.Groups)
	if s.Boot != m.bootID {
		return b, nil // the machine was restarted; the numbers name others now
	}
	var err error
	if b.init, err = openProcess(s.Init.PID, s.Init.Start); err != nil && choir.CodeOf(err) != choir.CodeNotFound {
		return nil, err
	}
	if s.Monitor.Start == 0 {
		return b, nil
	}
	if b.outer, err = openProcess(s.Monitor.PID, s.Monitor.Start); err != nil && choir.CodeOf(err) != choir.CodeNotFound {
		b.init.close()
		return nil, err
	}
	return b, nil
}

// usageOf returns the sum of the usage of a process and its descendants, for sandboxes
// without a cgroup.
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
