// Package probed is what the probe program says, shared with the suite that
// reads it.
package probed

import "encoding/json"

// Result is the outcome of one try.
type Result struct {
	Error string          `json:"error,omitempty"`
	Errno int             `json:"errno,omitempty"` // 0 when it worked, or failed without one
	Value json.RawMessage `json:"value,omitempty"`
}

// Reuse says who connections were taken for, before and after the role had the
// number of a process that had opened one of them.
type Reuse struct {
	Role   int      `json:"role"` // that number
	Before []string `json:"before"`
	After  []string `json:"after"`
}

// Burnt is the CPU time that a busy process got, and the time it took.
type Burnt struct {
	CPUMS  int64 `json:"cpu_ms"`
	WallMS int64 `json:"wall_ms"`
}

// Facts is what a process inside sees of itself and its surroundings.
type Facts struct {
	UID        int               `json:"uid"`
	GID        int               `json:"gid"`
	Groups     []int             `json:"groups"`
	Hostname   string            `json:"hostname"`
	Cwd        string            `json:"cwd"`
	Environ    []string          `json:"environ"`
	Interfaces []string          `json:"interfaces"`
	Status     map[string]string `json:"status"`    // /proc/self/status
	Processes  map[int]string    `json:"processes"` // command lines
}
