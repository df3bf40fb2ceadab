// Package probed is the output of the probe program, shared with the suite that reads
// it.
package probed

import "encoding/json"

// Result is the outcome of one run of the probe.
type Result struct {
	Error string          `json:"error,omitempty"`
	Errno int             `json:"errno,omitempty"` // 0 when it worked, or failed without one
	Value json.RawMessage `json:"value,omitempty"`
}

// Reuse lists whom init took connections for, before and after the role had the pid of a
// process that had opened one of them.
type Reuse struct {
	Role   int      `json:"role"` // that number
	Before []string `json:"before"`
	After  []string `json:"after"`
}

// Burnt is the CPU time and the wall time that a busy process used.
type Burnt struct {
	CPUMS  int64 `json:"cpu_ms"`
	WallMS int64 `json:"wall_ms"`
}

// Facts describes a process inside and its surroundings, as the process sees them.
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
