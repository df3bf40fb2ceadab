// Command choir-associate is the Associate's process inside its sandbox. It reads its boot line from
// standard input and executes the tasks of its computer until it is stopped.
//
// As "choir-associate tree NAME [FOLDER...]" it is the tree process that starts a task's commands,
// which may write only in these folders; it communicates only with its parent.
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

// treeName is the name of the lock that a sandbox's tree process holds.
const treeName = "choir-associate-tree"

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	// Before anything secret is read: no tool process may trace this one.
	err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	tree := len(os.Args) > 2 && os.Args[1] == "tree"
	if err == nil {
		err = inherited.Close(lastHanded(tree))
	}
	switch {
	case err != nil:
	case tree:
		err = proctree.Serve(os.NewFile(owner, "owner"), os.Args[2], os.Args[3:]...)
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

// owner is the file descriptor of the tree process's socket to the role.
const owner = 3

// lastHanded returns the last file descriptor that this process keeps open.
func lastHanded(tree bool) int {
	if tree {
		return owner
	}
	return roledoor.FD
}

// run connects to the bus with the boot line on stdin and executes tasks until ctx ends.
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
		Log: client, Tree: associate.Control{Bus: client}, Screen: associate.Control{Bus: client}, Models: gateway.New(egress(door)), Blobs: client,
		// Nobody may be watching; what matters is in the events.
		Live:      func(run choir.ID, text string) { _ = client.Live(run, text) },
		Now:       func() choir.Time { return choir.TimeOf(time.Now()) },
		Workspace: sandbox.WorkspaceInside, Scratch: scratch, Worktrees: sandbox.WorktreesInside, Env: env,
		TreeArgv: []string{path.Join(sandbox.GuestInside, "choir-associate"), "tree"}, Lock: treeName,
		Shared:   []string{"/dev/shm"}, // programs that share memory cannot do without
		MaxSteps: boot.Limits.Steps,
	})
	if err != nil {
		return err
	}
	defer runner.Close()
	return associate.New(runner, boot.Start.Begun, log).Follow(ctx, client, boot.Start.After)
}

// renew reads new credentials from in and uses them. It runs as long as the process, because a read
// from standard input cannot be interrupted.
func renew(ctx context.Context, in *bufio.Reader, client *bus.Client, log *slog.Logger) {
	if err := client.Renew(ctx, in); err != nil && ctx.Err() == nil {
		log.Error("no new credentials can be taken up", "error", err)
	}
}
