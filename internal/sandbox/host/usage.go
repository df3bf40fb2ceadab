package host

import (
	"os"
	"strconv"
	"strings"

	"choiros/internal/sandbox"
)

// UsageOf returns the sum of the usage of a process and its descendants, for sandboxes
// without a cgroup.
func UsageOf(pid int) sandbox.Usage {
	const ticksPerSecond = 100 // USER_HZ, the same on every Linux
	var u sandbox.Usage
	for _, p := range Descendants(pid) {
		statm, err := os.ReadFile("/proc/" + strconv.Itoa(p) + "/statm")
		if err != nil {
			continue // it has ended
		}
		u.Processes++
		if fields := strings.Fields(string(statm)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64) // the kernel writes numbers
			u.MemoryBytes += pages * int64(os.Getpagesize())
		}
		if s, err := ReadStat(p); err == nil {
			u.CPUMillis += int64(s.CPUTicks) * 1000 / ticksPerSecond
		}
	}
	return u
}
