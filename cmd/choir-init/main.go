// Command choir-init is PID 1 of every sandbox: it serves the control door, whose listening socket
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

	"choiros/internal/fault"
	"choiros/internal/guest"
	"choiros/internal/inherited"
	"choiros/internal/sandbox"
)

// version is choir's version, set by the linker.
var version = "dev"

// sessionArg is the argument with which this program runs as the first process of a terminal.
const sessionArg = "session"

func main() {
	// Before anything else: a tool could otherwise trace this process and speak
	// in its name.
	err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	session := len(os.Args) > 3 && os.Args[1] == sessionArg
	if err == nil {
		err = inherited.Close(lastHanded(session))
	}
	if err == nil {
		err = fault.FollowFile(sandbox.GuestInside + "/fault")
	}
	if err == nil && session {
		var code int
		if code, err = guest.RunSession(os.Args[2], os.Args[3:], os.Environ()); err == nil {
			os.Exit(code)
		}
	} else if err == nil {
		err = serve(os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "choir-init:", err)
		os.Exit(1)
	}
}

// door is the file descriptor of the control door's listening socket.
const door = 3

// lastHanded returns the last file descriptor that this process keeps open: the door, which a
// terminal's session must not have.
func lastHanded(session bool) int {
	if session {
		return inherited.Standard
	}
	return door
}

// serve applies limits, restricts this process and serves the control door until it is stopped.
func serve(args []string) error {
	flags := flag.NewFlagSet("choir-init", flag.ContinueOnError)
	orphan := flags.Duration("orphan", sandbox.OrphanSeconds*time.Second, "how long to live without a control plane")
	workspace := flags.String("workspace", defaultWorkspace(), "folder of files and snapshots; empty for none")
	walled := flags.Bool("landlock", false, "write only in the workspace and in folders in memory")
	var toolchains, writable []string
	flags.Func("writable", "further folder that may be written to with --landlock; may be repeated", func(path string) error {
		writable = append(writable, path)
		return nil
	})
	flags.Func("toolchain", "folder whose bin comes first in PATH; may be repeated", func(path string) error {
		toolchains = append(toolchains, path)
		return nil
	})
	limit := limitFlags(flags) // drivers pass these: see limits.go
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := limit(); err != nil {
		return err
	}
	if *walled {
		if err := landlock(append(writable, *workspace)); err != nil {
			return err
		}
	}
	handed := os.NewFile(door, "control")
	listener, err := net.FileListener(handed)
	handed.Close()
	if err != nil {
		return fmt.Errorf("file descriptor 3 is no listening socket: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	return guest.NewServer(guest.Config{
		Version: version, Listener: listener, Workspace: *workspace, GuestDir: sandbox.GuestInside,
		Orphan: *orphan, Allow: guest.OutsideOnly, Env: guest.Environment(toolchains, sandbox.TrustInside), Programs: guest.NewReaper(true),
		Session: []string{"/proc/self/exe", sessionArg},
		Proxy:   guest.ProxyListens,
		Names:   guest.NamesListen,
	}).Serve(ctx)
	// What still runs ends with this process: the kernel kills a pid namespace
	// whose first process is gone.
}

// defaultWorkspace returns the workspace's folder, "" if the sandbox has none.
func defaultWorkspace() string {
	if info, err := os.Stat(sandbox.WorkspaceInside); err != nil || !info.IsDir() {
		return ""
	}
	return sandbox.WorkspaceInside
}
