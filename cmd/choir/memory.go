package main

import (
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// Bounds of the control plane's memory limit, in bytes.
const (
	leastMemory = 512 << 20
	mostMemory  = 2 << 30
)

// limitMemory sets the Go runtime's memory limit, unless GOMEMLIMIT is set.
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

// memoryLimit returns the memory limit on a machine with this many bytes: a quarter, within the
// bounds.
func memoryLimit(machine uint64) int64 {
	return int64(min(max(machine/4, leastMemory), mostMemory))
}
