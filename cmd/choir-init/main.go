// Command choir-init is PID 1 of every sandbox: it serves the control door that
// the driver passes as file descriptor 3. As "choir-init reap -- COMMAND..." it
// runs a command as a process tree that ends as a whole.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// version is set by the linker.
var version = "dev"

func main() {
	// Before anything else: a tool could otherwise trace this process and speak
	// in its name.
	err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	if err == nil && len(os.Args) > 1 && os.Args[1] == "reap" {
		err = reap(os.Args[2:])
	} else if err == nil {
		err = serve(os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "choir-init:", err)
		os.Exit(exitCode(err))
	}
}

// exitCode is 127 for a command that is not there, as in a shell.
func exitCode(err error) int {
	if choir.CodeOf(err) == choir.CodeNotFound {
		return 127
	}
	return 1
}

func reap(args []string) error {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return errors.New("usage: choir-init reap -- COMMAND [ARGUMENT...]")
	}
	end, err := guest.Reap(guest.ReapConfig{Argv: args, Env: os.Environ(), Lifeline: os.Stdin})
	if err != nil {
		return err
	}
	end.Leave()
	return nil
}

func serve(args []string) error {
	flags := flag.NewFlagSet("choir-init", flag.ContinueOnError)
	orphan := flags.Duration("orphan", sandbox.OrphanSeconds*time.Second, "how long to live without a control plane")
	workspace := flags.String("workspace", defaultWorkspace(), "folder of files and snapshots; empty for none")
	limit := limitFlags(flags) // drivers pass these: see limits.go
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := limit(); err != nil {
		return err
	}
	door := os.NewFile(3, "control")
	listener, err := net.FileListener(door)
	door.Close()
	if err != nil {
		return fmt.Errorf("file descriptor 3 is no listening socket: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	return guest.NewServer(guest.Config{
		Version: version, Listener: listener, Workspace: *workspace, GuestDir: sandbox.GuestInside,
		Orphan: *orphan, Allow: guest.OutsideOnly, Env: guest.Environment(), Reaper: guest.NewReaper(true),
		Proxy: guest.ProxyAddress, Egress: sandbox.DoorsInside + "/" + sandbox.EgressSocket,
	}).Serve(ctx)
	// What still runs ends with this process: the kernel kills a pid namespace
	// whose first process is gone.
}

// defaultWorkspace is the workspace when the sandbox has one.
func defaultWorkspace() string {
	if info, err := os.Stat(sandbox.WorkspaceInside); err != nil || !info.IsDir() {
		return ""
	}
	return sandbox.WorkspaceInside
}
