package guest

import (
	"context"
	"os"
	"syscall"
)

// Programs starts the programs of a server. A Reaper starts processes; tests use
// functions in their place. It is safe for concurrent use.
type Programs interface {
	// Start starts a program. The caller closes the files once Start has returned. A
	// missing program or folder is code not_found.
	Start(s Start) (Program, error)
	// Collect reaps ended programs until ctx ends. The server calls it once.
	Collect(ctx context.Context)
	// EndOrphans kills the processes left behind by a role that has exited. If ctx ends
	// first the error is code timeout.
	EndOrphans(ctx context.Context) error
}

// Program is a started program.
type Program interface {
	// PID returns the process id inside the sandbox.
	PID() int
	// Ended returns a channel that receives the program's end once.
	Ended() <-chan Ended
	// Signal sends a signal to the program's process group; it does nothing after the
	// end. A kind of program that cannot take the signal returns code unavailable.
	Signal(s syscall.Signal) error
	// Kill kills the program with its process group and all its descendants.
	Kill()
	// KillAlone kills the program and none of its descendants.
	KillAlone()
}

// Start describes a program to start.
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
