package main

import (
	"fmt"
	"os"
	"strings"
)

// procStat is the file in which Linux counts the time of all processors.
const procStat = "/proc/stat"

// processorTime is the time of all processors since the machine started, in ticks.
type processorTime struct{ idle, all uint64 }

// readProcessorTime parses the first line of a file like /proc/stat. Any other text
// yields zero.
func readProcessorTime(stat string) processorTime {
	line, _, _ := strings.Cut(stat, "\n")
	var user, nice, system, idle, wait, irq, softirq, steal uint64
	n, _ := fmt.Sscanf(line, "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &wait, &irq, &softirq, &steal)
	if n < 8 {
		return processorTime{}
	}
	return processorTime{idle: idle + wait, all: user + nice + system + idle + wait + irq + softirq + steal}
}

// nowProcessorTime reads procStat. It returns zero where there is no such file.
func nowProcessorTime() processorTime {
	raw, _ := os.ReadFile(procStat)
	return readProcessorTime(string(raw))
}

// describeBusy returns how much of all processors was used from start to end, by this
// and every other program, such as ", processors 57 % busy". It returns an empty text
// if that is unknown.
func describeBusy(start, end processorTime) string {
	if start.all == 0 || end.all <= start.all || end.idle < start.idle {
		return ""
	}
	all := end.all - start.all
	idle := min(end.idle-start.idle, all)
	return fmt.Sprintf(", processors %d %% busy", 100*(all-idle)/all)
}
