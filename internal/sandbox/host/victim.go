package host

import (
	"os"
	"strconv"
)

// The kernel's weights of processes when memory is used up, from -1000 to 1000, see proc(5): the
// process with the largest ends first. The control plane has 0.
const (
	// VictimWhileMade is the weight of a sandbox that is being made: it has nothing to lose.
	VictimWhileMade = 1000
	// VictimAlive is the weight of a sandbox in use.
	VictimAlive = 900
)

// SetVictim gives a process and everything below it, and what they start, a weight. It is best
// effort: a process that may not be written to keeps its own, and an ended process needs none.
func SetVictim(pid, weight int) {
	seen := map[int]bool{}
	for fresh := true; fresh; {
		fresh = false
		for _, pid := range Descendants(pid) { // again: one may have been started before its parent was written to
			if !seen[pid] {
				seen[pid], fresh = true, true
				os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte(strconv.Itoa(weight)), 0) // as above
			}
		}
	}
}
