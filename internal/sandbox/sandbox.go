// Package sandbox is the contract of isolation drivers. A driver only boots a
// sandbox, finds it again after a restart, measures it and destroys it. What
// happens inside is choir-init's business (see internal/guest), and all of it goes
// over the byte streams that Dial opens: one at a time is enough, see Capabilities.
package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"net"

	"choiros/internal/choir"
)

// Driver creates the sandboxes of one rung of the isolation ladder. It is safe for
// concurrent use.
type Driver interface {
	// Name returns the rung: local, gvisor, container, microvm, sprites or tee.
	Name() string
	// Capabilities returns the mounts and streams that a sandbox can have. The result is
	// always the same.
	Capabilities() Capabilities
	// Probe tests what this machine can isolate and reports it. It has no lasting effect.
	Probe(ctx context.Context) Report
	// Create boots a sandbox and returns it when choir-init answers on its control door.
	// A spec that Spec.Check refuses is code invalid or unavailable; a machine that
	// cannot isolate as the spec requires is code unavailable, one at capacity busy. If
	// Create fails nothing is left behind.
	Create(ctx context.Context, spec Spec) (Sandbox, error)
	// Recover returns the running sandbox of a handle, also one made by an earlier
	// driver. Its error is a statement about the sandbox, see VerdictOf: code not_found
	// only if it has certainly ended and nothing of it is left, code invalid if this
	// driver did not make the handle, any other code if its state is unknown. The last
	// two have no effect on the sandbox.
	Recover(ctx context.Context, h Handle) (Sandbox, error)
}

// Toolbox is implemented by drivers that can list the programs available to tasks in
// their sandboxes.
type Toolbox interface {
	// Tools looks for each program in a sandbox like an Associate's and returns one check
	// per program, named after it (ToolPytest after the module). It has no effect on
	// other sandboxes.
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
	// Handle returns the handle, which stays valid across a restart of the control plane.
	Handle() Handle
	// Dial opens a byte stream to choir-init through the control door; the caller closes
	// it. The other end is never any other program. If the sandbox has ended the error is
	// code unavailable. Without Capabilities.Streams the caller must close a stream
	// before the next call; it uses a guest.Mux.
	Dial(ctx context.Context) (net.Conn, error)
	// Level returns the isolation that is really in force.
	Level() Level
	// Usage measures what the sandbox uses now. If it has ended it is an error.
	Usage(ctx context.Context) (Usage, error)
	// Done returns a channel that is closed when the sandbox has ended, for whatever
	// reason.
	Done() <-chan struct{}
	// Destroy kills every process of the sandbox, waits for their end, and removes
	// everything that the driver made, including a copied workspace but never a folder of
	// the host. It is idempotent.
	Destroy(ctx context.Context) error
}

// Spec describes a sandbox to create.
type Spec struct {
	Computer choir.ID
	Role     choir.Role // director, associate or pool
	// Doors is a host folder of this sandbox's own, made by the caller, in which a driver
	// that needs a socket on the host has it (ControlSocket). The control door is all
	// that leads into a sandbox and out of it; inside nothing of the folder is seen.
	Doors string
	// Guest is the host folder with the guest binaries, which are at GuestInside, not to
	// be changed: bound, in an image or copied, as the driver does it.
	Guest string
	// Mounts are the folders that the sandbox has besides. A workspace is one of them.
	Mounts []Mount
	// UID is the host user the sandbox runs as when the control plane is root;
	// ignored otherwise. The workspace's folder is already accessible to it.
	UID    int
	Limits Limits
	// DiskLimited says that the file system of the workspace's folder limits what it may
	// take.
	DiskLimited bool
	// RequireLimits refuses a machine where Limits cannot be held by cgroups.
	RequireLimits bool
}

// Paths inside every sandbox.
const (
	GuestInside     = "/opt/choir"
	WorkspaceInside = "/workspace"
	// MountsInside is the folder in which mounts other than the workspace are.
	MountsInside = "/run"
	// TrustInside is the folder of certificates that programs trust besides the host's roots,
	// where a computer has them.
	TrustInside = MountsInside + "/choir-trust"
	// WorktreesInside is the folder of copies of projects in which tasks work, in memory.
	WorktreesInside = "/tmp/choir-worktrees"
	// InsideUID and InsideGID are who everything inside runs as.
	InsideUID = 1000
	InsideGID = 1000
	// OrphanSeconds is how long a sandbox outlives its control plane.
	OrphanSeconds = 60
)

// ControlSocket is the control door's name in Spec.Doors.
const ControlSocket = "control.sock"

// RelayArg makes choir-init a relay outside of a sandbox that has no socket on the host: see
// guest.Relay. File descriptor 3 is the control door's listening socket, 4 a connection to the
// choir-init inside, which has the flag --joined.
const RelayArg = "relay"

// The arguments that make choir-init a part of a driver that reaches its machine only by
// running programs there. Each but the last two is followed by the path of the control door.
const (
	// ListenArg makes the control door and becomes the program that follows, which has it as
	// file descriptor 3.
	ListenArg = "listen"
	// JoinArg carries standard input and output to the control door.
	JoinArg = "join"
	// LoopbackArg raises the loopback interface.
	LoopbackArg = "loopback"
	// KernelArg prints the release of the kernel and its version of Landlock.
	KernelArg = "kernel"
)

// Limits of one sandbox; zero means the driver's default.
type Limits struct {
	Processes   int   // processes and threads
	MemoryBytes int64 // resident
	CPUMilli    int   // thousandths of a core
	OpenFiles   int   // per process
}

// DefaultLimits returns the limits of a sandbox without limits of its own. They suit a
// laptop.
func DefaultLimits() Limits {
	return Limits{Processes: 1024, MemoryBytes: 4 << 30, CPUMilli: 2000, OpenFiles: 8192}
}

// OrDefaults returns the limits with the default of each that is 0.
func (l Limits) OrDefaults() Limits {
	def := DefaultLimits()
	return Limits{
		Processes: cmp.Or(l.Processes, def.Processes), MemoryBytes: cmp.Or(l.MemoryBytes, def.MemoryBytes),
		CPUMilli: cmp.Or(l.CPUMilli, def.CPUMilli), OpenFiles: cmp.Or(l.OpenFiles, def.OpenFiles),
	}
}

// FilesInMemory returns how many files each folder in memory may have: an empty one takes about a
// kibibyte of the sandbox's memory, which no size limits.
func (l Limits) FilesInMemory() int64 { return l.OrDefaults().MemoryBytes / (8 << 10) }

// Handle identifies a sandbox to the driver that made it, across restarts of the control
// plane. State is opaque to all others.
type Handle struct {
	Driver  string          `json:"driver"`
	Version int             `json:"version"`
	State   json.RawMessage `json:"state"`
}

// Level describes the isolation that is really in force. Missing lists the protections
// that the machine could not provide, each as an English sentence; MissingSaid has the data
// by which they are said in other languages, by sentence.
type Level struct {
	Driver      string                `json:"driver"`
	Name        string                `json:"name"` // such as "local: namespaces, seccomp, landlock, cgroup v1 limits"
	Limits      string                `json:"limits"`
	Missing     []string              `json:"missing,omitempty"`
	MissingSaid map[string]choir.Said `json:"missing_said,omitempty"`
	// Tasks names what keeps the commands of a task in a project from writing outside of
	// it, such as "landlock"; empty for nothing.
	Tasks string `json:"tasks,omitempty"`
}

// TaskLandlock is the first version of Landlock (Linux 6.2) that can confine the commands
// of a task to its project, because it covers every way of writing to a file.
const TaskLandlock = 3

// Usage is the resource usage of a sandbox.
type Usage struct {
	Processes   int   `json:"processes"`
	MemoryBytes int64 `json:"memory_bytes"`
	CPUMillis   int64 `json:"cpu_ms"`
}
