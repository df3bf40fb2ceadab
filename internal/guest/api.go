package guest

import (
	"encoding/json"

	"choiros/internal/choir"
)

// Info describes a running choir-init.
type Info struct {
	Version string `json:"version"`
	BootMS  int64  `json:"boot_ms"` // milliseconds since init started
	RolePID int    `json:"role_pid,omitempty"`
	Role    string `json:"role,omitempty"`
}

// Caller is the kind of program that opened a stream.
type Caller string

// The callers.
const (
	CallerRole Caller = "role" // the role's own process
	CallerTool Caller = "tool" // any other program in the sandbox
)

// NoticeKind is the kind of a notice.
type NoticeKind string

// The kinds of notice.
const (
	NoticeRoleExited NoticeKind = "role_exited"
)

// Notice is a message from init to every attached control plane.
type Notice struct {
	Kind NoticeKind `json:"kind"`
	Role string     `json:"role,omitempty"`
	PID  int        `json:"pid,omitempty"`
	// Launch is the how-manieth start of a role in this sandbox it was, from 1.
	Launch int   `json:"launch,omitempty"`
	Exit   *Exit `json:"exit,omitempty"`
	// Output is the end of what the role wrote to its standard error.
	Output string `json:"output,omitempty"`
}

// RoleSpec describes the role to start. Credentials is one JSON value, written as the
// first line to the role's standard input and to no file or environment; Config, if
// given, is the second line.
type RoleSpec struct {
	Name        string          `json:"name" choir:"enum=choir-director|choir-associate"`
	Credentials json.RawMessage `json:"credentials"`
	Config      json.RawMessage `json:"config,omitempty"`
}

// Size is the size of a terminal in characters.
type Size struct {
	Rows uint16 `json:"rows" choir:"range=1..1000"`
	Cols uint16 `json:"cols" choir:"range=1..1000"`
}

// ExecSpec describes a command to run. Its environment is Config.Env of the server plus
// Env.
type ExecSpec struct {
	Argv      []string `json:"argv" choir:"len=1..4096,each=0..131072"`
	Cwd       string   `json:"cwd,omitempty" choir:"len=0..4096"` // absolute; default the workspace, or / without one
	Env       []string `json:"env,omitempty" choir:"len=0..1024,each=1..131072"`
	Stdin     bool     `json:"stdin,omitempty"`                                // a pipe that the client writes; else /dev/null
	TTY       *Size    `json:"tty,omitempty"`                                  // a terminal; its output is all stdout
	Session   bool     `json:"session,omitempty"`                              // whatever it starts ends with it, daemons too
	TimeoutMS int64    `json:"timeout_ms,omitempty" choir:"range=0..86400000"` // then the whole tree is killed; 0 is no limit
}

// Exit is the way a process ended, and its resource usage.
type Exit struct {
	Code     int    `json:"code"`             // -1 when it was ended by a signal
	Signal   string `json:"signal,omitempty"` // such as SIGKILL
	TimedOut bool   `json:"timed_out,omitempty"`
	CPUMS    int64  `json:"cpu_ms"`        // user and system, of it and the children it waited for
	MaxRSS   int64  `json:"max_rss_bytes"` // largest resident size of one of them
}

// RestoreOptions select what a restore changes.
type RestoreOptions struct {
	// Narrow restores exactly the paths of Only (escaped, below the workspace, ""
	// for the workspace itself) and nothing else.
	Narrow bool
	Only   []string
	// Worktree is the tree that is changed, see Client.ScanWorktree; empty for the workspace.
	Worktree choir.ID
}

// Listing is one page of a folder.
type Listing struct {
	Entries []choir.FileState `json:"entries"`        // Path is the entry's path below the workspace
	More    bool              `json:"more,omitempty"` // there are entries after the last one
}

// FindSpec describes a search: files and folders whose name contains Name, ignoring case,
// and, if Content is given, only text files that contain it literally.
type FindSpec struct {
	Name    string `json:"name,omitempty" choir:"len=0..255"`
	Content string `json:"content,omitempty" choir:"len=0..1000"`
	Best    bool   `json:"best,omitempty"` // without Content: all are looked at, and those whose names fit best come first
}

// Found holds the matches of a search, sorted by path, or by how well the names match if
// FindSpec.Best is set.
type Found struct {
	Matches []Match `json:"found"`
	Cut     bool    `json:"cut,omitempty"` // a bound was reached: there may be more
}

// Match is one path that a search found.
type Match struct {
	File choir.FileState `json:"file"`
	Line int             `json:"line,omitempty"` // of the first occurrence, from 1
	Text string          `json:"text,omitempty"` // that line, shortened
}
