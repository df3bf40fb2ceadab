package main

import (
	"runtime/debug"
	"testing"
)

func TestTheControlPlaneLimitsItsMemory(t *testing.T) {
	for machine, want := range map[uint64]int64{1 << 30: 512 << 20, 4 << 30: 1 << 30, 64 << 30: 2 << 30} {
		if got := memoryLimit(machine); got != want {
			t.Errorf("with %d MiB: %d", machine>>20, got)
		}
	}
	was := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(was)
	a := newApp()
	a.env = func(string) string { return "1GiB" }
	a.limitMemory()
	if got := debug.SetMemoryLimit(-1); got != was {
		t.Errorf("the owner's limit was replaced by %d", got)
	}
	a.env = func(string) string { return "" }
	a.limitMemory()
	if got := debug.SetMemoryLimit(-1); got < leastMemory || got > mostMemory {
		t.Errorf("the limit is %d", got)
	}
}
