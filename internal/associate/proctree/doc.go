// Package proctree runs a task's commands below one process that adopts every
// orphan (PR_SET_CHILD_SUBREAPER), so that ending the task ends whatever it
// started, however it daemonised, and nothing else: terminals and dev servers
// live elsewhere. The tree process outlives the command but never its owner:
// when the owner's end of the socket closes, it kills what is left and ends.
//
// Tree is the owner's side, Serve the tree process itself: the same binary,
// started again with other arguments.
package proctree

import "time"

// Usage is what processes used, measured by the kernel.
type Usage struct {
	CPU    time.Duration `json:"cpu"`
	MaxRSS int64         `json:"max_rss"` // bytes, largest of one process
}

func (u *Usage) add(v Usage) {
	u.CPU += v.CPU
	u.MaxRSS = max(u.MaxRSS, v.MaxRSS)
}

// Exit is how a command ended.
type Exit struct {
	Code   int    // -1 when a signal ended it
	Signal string // such as SIGKILL, or empty
}

// Grace is how long a process may take to end after SIGTERM.
const Grace = 300 * time.Millisecond

// request asks the tree process for something. With opRun the standard output,
// error output and, if any, input travel beside it as file descriptors.
type request struct {
	Op    string        `json:"op"`
	ID    int           `json:"id"`
	Argv  []string      `json:"argv,omitempty"`
	Env   []string      `json:"env,omitempty"`
	Dir   string        `json:"dir,omitempty"`
	Grace time.Duration `json:"grace,omitempty"`
	Kill  bool          `json:"kill,omitempty"` // opStop: SIGKILL, not SIGTERM
}

const (
	opRun   = "run"   // start a command; answered when it ends
	opStop  = "stop"  // signal a command's process group; not answered
	opClear = "clear" // end every process; answered when none is left
)

// reply answers the request with its ID.
type reply struct {
	ID    int    `json:"id"`
	Error string `json:"error,omitempty"`
	Limit bool   `json:"limit,omitempty"` // opRun: no process could be made, whatever the program
	Exit  Exit   `json:"exit"`
	Usage Usage  `json:"usage"` // opClear: of everything since the last clear
}
