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

// Usage is the CPU time and memory that processes used, as measured by the kernel.
type Usage struct {
	CPU    time.Duration `json:"cpu"`
	MaxRSS int64         `json:"max_rss"` // bytes, largest of one process
}

// add adds the CPU time of v and takes the larger memory.
func (u *Usage) add(v Usage) {
	u.CPU += v.CPU
	u.MaxRSS = max(u.MaxRSS, v.MaxRSS)
}

// Exit is the exit status of a command.
type Exit struct {
	Code   int    // -1 when a signal ended it
	Signal string // such as SIGKILL, or empty
}

// Grace is the time between SIGTERM and SIGKILL.
const Grace = 300 * time.Millisecond

// request is a message to the tree process. With opRun, the file descriptors of standard
// output, standard error and, optionally, input are sent beside it.
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
	Limit bool   `json:"limit,omitempty"` // opRun: the limit on processes or memory is reached
	Exit  Exit   `json:"exit"`
	Usage Usage  `json:"usage"` // opClear: of all processes that ended since the last opClear
}
