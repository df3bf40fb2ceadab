// Package sandbox is the contract of isolation drivers. A driver only boots a
// sandbox, finds it again after a restart, measures it and destroys it. What
// happens inside is choir-init's business (see internal/guest).
package sandbox

import (
	"context"
	"encoding/json"
	"net"

	"choiros/internal/choir"
)

// Driver creates sandboxes of one rung of the isolation ladder. All methods may
// be called at once.
type Driver interface {
	// Name is the rung: local, gvisor, container, microvm, sprites or tee.
	Name() string
	// Probe finds out what this machine can isolate, by trying. It has no
	// lasting effect.
	Probe(ctx context.Context) Report
	// Create boots a sandbox and returns when choir-init answers on its control
	// door. Code unavailable when the machine cannot isolate as the spec
	// requires; code busy at capacity. When Create fails nothing is left behind.
	Create(ctx context.Context, spec Spec) (Sandbox, error)
	// Recover takes a sandbox up again by its handle. Code not_found when it has
	// ended; then nothing of it is left.
	Recover(ctx context.Context, h Handle) (Sandbox, error)
}

// Toolbox is a driver that can say which programs the tasks of its sandboxes
// find.
type Toolbox interface {
	// Tools looks for each program in a sandbox like an Associate's and names the
	// checks after them, ToolPytest after the module. It has no effect on other
	// sandboxes.
	Tools(ctx context.Context) []Check
}

// The programs that verification uses. ToolPytest is a module of python3.
const (
	ToolCargo  = "cargo"
	ToolGo     = "go"
	ToolNode   = "node"
	ToolPython = "python3"
	ToolPytest = "pytest"
	ToolMake   = "make"
	ToolGit    = "git"
)

// Sandbox is one running sandbox.
type Sandbox interface {
	// Handle is what survives a restart of the control plane.
	Handle() Handle
	// Dial opens the control door; the caller closes. The far end is choir-init
	// and nothing else. Code unavailable: the sandbox has ended.
	Dial(ctx context.Context) (net.Conn, error)
	// Level is the isolation that is really in force.
	Level() Level
	// Usage measures what the sandbox uses now.
	Usage(ctx context.Context) (Usage, error)
	// Done is closed when the sandbox has ended, for whatever reason.
	Done() <-chan struct{}
	// Destroy ends every process, waits for their end, and removes everything
	// the driver made (not the workspace). Idempotent.
	Destroy(ctx context.Context) error
}

// Spec describes a sandbox to be made.
type Spec struct {
	Computer choir.ID
	Role     choir.Role // director, associate or pool
	// Doors is the host folder, made by the caller, in which the driver listens
	// for choir-init (ControlSocket). The control door is all that leads into a
	// sandbox and out of it; inside nothing of the folder is seen.
	Doors string
	// Workspace is the host folder bound writable at WorkspaceInside; empty for
	// a sandbox without one.
	Workspace string
	// Guest is the host folder with the guest binaries, bound read-only at
	// GuestInside.
	Guest string
	// UID is the host user the sandbox runs as when the control plane is root;
	// ignored otherwise. The workspace is already accessible to it.
	UID    int
	Limits Limits
	// DiskLimited says that the workspace's file system limits what it may take.
	DiskLimited bool
	// RequireLimits refuses a machine where Limits cannot be held by cgroups.
	RequireLimits bool
}

// Paths inside every sandbox.
const (
	GuestInside     = "/opt/choir"
	WorkspaceInside = "/workspace"
	// InsideUID and InsideGID are who everything inside runs as.
	InsideUID = 1000
	InsideGID = 1000
	// OrphanSeconds is how long a sandbox outlives its control plane.
	OrphanSeconds = 60
)

// ControlSocket is the control door's name in Spec.Doors.
const ControlSocket = "control.sock"

// Limits of one sandbox; zero means the driver's default.
type Limits struct {
	Processes   int   // processes and threads
	MemoryBytes int64 // resident
	CPUMilli    int   // thousandths of a core
	OpenFiles   int   // per process
}

// DefaultLimits are safe for a laptop.
func DefaultLimits() Limits {
	return Limits{Processes: 1024, MemoryBytes: 4 << 30, CPUMilli: 2000, OpenFiles: 8192}
}

// Handle is a versioned, opaque note by which a driver finds its sandbox again.
type Handle struct {
	Driver  string          `json:"driver"`
	Version int             `json:"version"`
	State   json.RawMessage `json:"state"`
}

// Level is the isolation really in force. Missing lists protections the
// machine could not give, each as a sentence.
type Level struct {
	Driver  string   `json:"driver"`
	Name    string   `json:"name"` // such as "local: namespaces, seccomp, landlock, cgroup v1 limits"
	Limits  string   `json:"limits"`
	Missing []string `json:"missing,omitempty"`
}

// NoDiskLimit is in Level.Missing of a sandbox with a workspace unless the spec says
// DiskLimited.
const NoDiskLimit = "Disk space is not limited."

// Usage is what a sandbox uses.
type Usage struct {
	Processes   int   `json:"processes"`
	MemoryBytes int64 `json:"memory_bytes"`
	CPUMillis   int64 `json:"cpu_ms"`
}

// Report is what a machine can do for a driver.
type Report struct {
	Driver string  `json:"driver"`
	Usable bool    `json:"usable"`
	Level  Level   `json:"level"`
	Checks []Check `json:"checks"`
}

// Check is one thing a driver needs.
type Check struct {
	Name     string `json:"name"`
	OK       bool   `json:"ok"`
	Required bool   `json:"required"`
	Detail   string `json:"detail"`
	Remedy   string `json:"remedy,omitempty"` // exact command, or empty
}
