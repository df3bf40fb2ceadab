// Command choir-init is PID 1 of every sandbox: it serves the control door that
// the driver passes as file descriptor 3.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// version is set by the linker.
var version = "dev"

func main() {
	// Before anything else: a tool could otherwise trace this process and speak
	// in its name.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		fail(err)
	}
	if err := run(os.Args[1:]); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "choir-init:", err)
	os.Exit(1)
}

func run(args []string) error {
	flags := flag.NewFlagSet("choir-init", flag.ContinueOnError)
	orphan := flags.Duration("orphan", sandbox.OrphanSeconds*time.Second, "how long to live without a control plane")
	workspace := flags.String("workspace", sandbox.WorkspaceInside, "folder of files and snapshots")
	limit := limitFlags(flags)
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
}
