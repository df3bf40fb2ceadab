// Command choir-associate is the Associate's process inside its sandbox. It
// reads who it is from its standard input and executes the tasks that the bus
// delivers, one at a time, until it is told to end.
//
// Started as "choir-associate tree NAME" it is the process below which the
// tasks' commands run; it then knows nothing and speaks only to its parent.
package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/associate"
	"choiros/internal/associate/proctree"
	"choiros/internal/associate/taskrunner"
	"choiros/internal/bus"
	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/guest/roledoor"
	"choiros/internal/inherited"
	"choiros/internal/model/gateway"
	"choiros/internal/sandbox"
)

// treeName is the lock that one sandbox's tree process holds.
const treeName = "choir-associate-tree"

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	// Before anything secret is read: no tool process may trace this one.
	err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	tree := len(os.Args) == 3 && os.Args[1] == "tree"
	if err == nil {
		err = inherited.Close(lastHanded(tree))
	}
	switch {
	case err != nil:
	case tree:
		err = proctree.Serve(os.NewFile(owner, "owner"), os.Args[2])
	default:
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		var door *roledoor.Dialer
		if door, err = roledoor.Inherited(); err == nil {
			err = run(ctx, os.Stdin, door, os.Environ(), log)
		}
		stop()
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		log.Error("choir-associate ends", "error", err)
		os.Exit(1)
	}
}

// owner is the descriptor by which the tree process speaks to the role.
const owner = 3

// lastHanded is the last descriptor that is meant for this process.
func lastHanded(tree bool) int {
	if tree {
		return owner
	}
	return roledoor.FD
}

// run works until ctx ends.
func run(ctx context.Context, stdin io.Reader, door *roledoor.Dialer, env []string, log *slog.Logger) error {
	if err := fault.FollowFile(sandbox.GuestInside + "/fault"); err != nil {
		return err
	}
	in := bufio.NewReader(stdin)
	boot, err := bus.ReadBoot(in)
	if err != nil {
		return err
	}
	client, err := bus.Dial(ctx, bus.DialConfig{
		Dial: door.To(roledoor.Bus), Credentials: boot.Credentials,
		User: boot.User, Computer: boot.Computer, Role: choir.RoleAssociate,
	})
	if err != nil {
		return err
	}
	defer client.Close()
	go renew(ctx, in, client, log)
	// One folder for as long as the sandbox lives: what compilers cached serves
	// the process after this one too.
	scratch := path.Join(os.TempDir(), "choir-associate")
	runner, err := taskrunner.New(taskrunner.Config{
		Log: client, Tree: associate.Control{Bus: client}, Models: gateway.New(egress(door)), Blobs: client,
		// Nobody may be watching; what matters is in the events.
		Live:      func(run choir.ID, text string) { _ = client.Live(run, text) },
		Now:       func() choir.Time { return choir.TimeOf(time.Now()) },
		Workspace: sandbox.WorkspaceInside, Scratch: scratch, Env: env,
		TreeArgv: []string{path.Join(sandbox.GuestInside, "choir-associate"), "tree"}, Lock: treeName,
		MaxSteps: boot.Limits.Steps,
	})
	if err != nil {
		return err
	}
	defer runner.Close()
	tasks, err := client.Tasks(ctx)
	if err != nil {
		return err
	}
	return associate.New(runner, log).Serve(ctx, tasks)
}

// renew takes up new credentials as they come. It lives as long as the process:
// a read from the standard input cannot be interrupted.
func renew(ctx context.Context, in *bufio.Reader, client *bus.Client, log *slog.Logger) {
	if err := client.Renew(ctx, in); err != nil && ctx.Err() == nil {
		log.Error("no new credentials can be taken up", "error", err)
	}
}
