package guest

import (
	"context"
	"os"
	"syscall"
)

// Programs starts what a server is asked to run. A Reaper starts processes; tests
// of who uses a sandbox put functions in their place, so that nothing is started on
// the host. All methods may be called at once.
type Programs interface {
	// Start starts a program. The caller closes the files once Start has returned.
	// Code not_found when there is no such program or folder.
	Start(s Start) (Program, error)
	// Collect takes note of ended programs until ctx ends; the server calls it once.
	Collect(ctx context.Context)
	// EndOrphans ends what a role that has exited left behind. Code timeout when
	// ctx ends before.
	EndOrphans(ctx context.Context) error
}

// Program is a program that was started.
type Program interface {
	// PID is its number inside the sandbox.
	PID() int
	// Ended gives how it ended, once.
	Ended() <-chan Ended
	// Signal sends a signal to its process group; nothing happens when it has
	// ended. Code unavailable when a program of this kind cannot take the signal.
	Signal(s syscall.Signal) error
	// Kill ends it with its process group and everything below it.
	Kill()
	// KillAlone ends it and nothing that it started.
	KillAlone()
}

// Start says what is to be started.
type Start struct {
	Path string // of the program; empty finds Argv[0] in the PATH of Env
	Argv []string
	Dir  string // absolute
	Env  []string
	// Files are its descriptors from 0 on.
	Files []*os.File
	// Terminal makes descriptor 0 the controlling terminal.
	Terminal bool
	// Session is the command that runs the program as a session, see RunSession;
	// empty for none.
	Session []string
}
