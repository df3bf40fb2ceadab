package pool

import (
	"fmt"
	"os"
	"strings"

	"choiros/internal/choir"
)

// Memory describes the memory of a machine.
type Memory struct {
	Total, Available int64 // bytes
	// Pressure is the percentage of the last ten seconds in which some process waited for memory;
	// 0 where the kernel does not say.
	Pressure float64
}

// Room is the freedom that the memory leaves to sandboxes without a user.
type Room string

// The rooms.
const (
	RoomFree  Room = "free"  // sandboxes may be started
	RoomKept  Room = "kept"  // ready ones may stay
	RoomTight Room = "tight" // none may stay
)

// Room returns what the memory allows. Between free and tight lies a part in which nothing
// changes, so that sandboxes are not started and ended in turns.
func (m Memory) Room() Room {
	switch {
	case m.Available*10 < m.Total || m.Pressure >= 10:
		return RoomTight
	case m.Available*4 >= m.Total && m.Pressure < 1:
		return RoomFree
	}
	return RoomKept
}

// ReadMemory measures this machine. Code unavailable: the kernel does not say.
func ReadMemory() (Memory, error) {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return Memory{}, choir.Wrap("pool.memory", choir.CodeUnavailable, err, "measure the memory")
	}
	m := Memory{Total: kilobytes(string(info), "MemTotal:") << 10, Available: kilobytes(string(info), "MemAvailable:") << 10}
	if m.Total == 0 {
		return m, choir.E("pool.memory", choir.CodeUnavailable, "the kernel does not say how much memory there is")
	}
	if pressure, err := os.ReadFile("/proc/pressure/memory"); err == nil { // not in every kernel
		m.Pressure = somePressure(string(pressure))
	}
	return m, nil
}

// kilobytes returns the number behind a name in the text of /proc/meminfo; 0 if it is missing.
func kilobytes(text, name string) int64 {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			var n int64
			_, _ = fmt.Sscan(rest, &n) // 0 when the kernel changed its format
			return n
		}
	}
	return 0
}

// somePressure returns avg10 of the line "some" of /proc/pressure/memory; 0 if it is missing.
func somePressure(text string) float64 {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "some avg10="); ok {
			var n float64
			_, _ = fmt.Sscan(rest, &n) // 0 when the kernel changed its format
			return n
		}
	}
	return 0
}
