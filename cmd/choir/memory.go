package main

import (
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// The control plane's own memory: a quarter of the machine's, within these bounds.
const (
	leastMemory = 512 << 20
	mostMemory  = 2 << 30
)

// limitMemory has the collector keep the control plane below a limit as far as it
// can, and give back what is above. GOMEMLIMIT, which the runtime has read, wins.
func (a *app) limitMemory() {
	if a.env("GOMEMLIMIT") != "" {
		return
	}
	var machine unix.Sysinfo_t
	if unix.Sysinfo(&machine) != nil {
		return // then there is no limit, as without this
	}
	debug.SetMemoryLimit(memoryLimit(uint64(machine.Totalram) * uint64(machine.Unit)))
}

// memoryLimit is the limit on a machine with so many bytes.
func memoryLimit(machine uint64) int64 {
	return int64(min(max(machine/4, leastMemory), mostMemory))
}
