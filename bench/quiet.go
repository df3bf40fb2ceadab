package bench

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// quietLook is how long the processors are watched.
	quietLook = time.Second
	// mostOthers is the share of the processors that other programs may take while a floor is
	// measured.
	mostOthers = 0.25
)

// tooBusyForFloor watches the processors before a floor is measured, and says why it cannot
// be; empty when it can. A sandbox has a control group of its own, which gets its share of
// the processors whatever else runs; the floor, which is in none, would wait behind other
// programs and look slower than it is.
func tooBusyForFloor(ctx context.Context) string {
	before, err := os.ReadFile("/proc/stat")
	if err != nil {
		return "" // nobody can tell
	}
	if sleep(ctx, quietLook) != nil {
		return ""
	}
	after, err := os.ReadFile("/proc/stat")
	if err != nil {
		return ""
	}
	busy := busyShare(string(before), string(after))
	if busy <= mostOthers {
		return ""
	}
	return fmt.Sprintf("other programs take %.0f%% of the processors, from which a sandbox is sheltered and the floor is not: measure on a quiet machine", 100*busy)
}

// busyShare returns the share of the time of all processors that was not idle between two
// readings of /proc/stat; 0 if they do not say.
func busyShare(before, after string) float64 {
	idleBefore, allBefore := processorTime(before)
	idleAfter, allAfter := processorTime(after)
	if allAfter <= allBefore {
		return 0
	}
	return 1 - float64(idleAfter-idleBefore)/float64(allAfter-allBefore)
}

// processorTime returns the idle time and the whole time in the first line of /proc/stat,
// see proc_stat(5).
func processorTime(stat string) (idle, all int64) {
	line, _, _ := strings.Cut(stat, "\n")
	const idleField, ioWaitField = 4, 5
	for i, field := range strings.Fields(line) {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil || i > 8 { // guests' time is in that of users
			continue
		}
		all += n
		if i == idleField || i == ioWaitField {
			idle += n
		}
	}
	return idle, all
}
