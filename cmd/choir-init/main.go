// Command choir-init is PID 1 of every sandbox: it serves the control door, whose listening socket
// the driver passes as file descriptor 3. With --joined that descriptor is a connection to a relay,
// which is this program too, outside of the sandbox: see relay.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/fault"
	"choiros/internal/guest"
	"choiros/internal/guest/machine"
	"choiros/internal/inherited"
	"choiros/internal/sandbox"
)

// version is choir's version, set by the linker.
var version = "dev"

// sessionArg is the argument with which this program runs as the first process of a terminal.
const sessionArg = "session"

func main() {
	if len(os.Args) > 1 && os.Getpid() == 1 && os.Args[1] == machine.BootArg {
		machine.Run(os.Args[2:])
	}
	// Before anything else: a tool could otherwise trace this process and speak
	// in its name.
	err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	if err == nil {
		err = inherited.Close(lastHanded(os.Args[1:]))
	}
	if err == nil {
		err = fault.FollowFile(sandbox.GuestInside + "/fault")
	}
	if err == nil && isSession(os.Args[1:]) {
		var code int
		if code, err = guest.RunSession(os.Args[2], os.Args[3:], os.Environ()); err == nil {
			os.Exit(code)
		}
	} else if err == nil && isRelay(os.Args[1:]) {
		err = relay()
	} else if part := spritePart(os.Args[1:]); err == nil && part != nil {
		err = part(os.Args[1:])
	} else if err == nil && len(os.Args) > 1 && os.Args[1] == machine.ConfineArg {
		err = machine.Confine(os.Args[2:])
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
// terminal's session must not have, and for a relay the way into the sandbox.
func lastHanded(args []string) int {
	switch {
	case isSession(args):
		return inherited.Standard
	case isRelay(args):
		return inside
	}
	return door
}

// isSession reports whether the arguments are those of a terminal's first process.
func isSession(args []string) bool { return len(args) > 2 && args[0] == sessionArg }

// startTime is the time after which a start with fewer processors is over.
const startTime = time.Second

// serve applies limits, restricts this process and serves the control door until it is stopped.
func serve(args []string) error {
	flags := flag.NewFlagSet("choir-init", flag.ContinueOnError)
	orphan := flags.Duration("orphan", sandbox.OrphanSeconds*time.Second, "how long to live without a control plane")
	workspace := flags.String("workspace", defaultWorkspace(), "folder of files and snapshots; empty for none")
	walled := flags.Bool("landlock", false, "write only in the workspace and in folders in memory")
	joined := flags.Bool("joined", false, "file descriptor 3 is a connection to a relay, which alone may speak at the door")
	fetched := flags.String("door", "", "socket that hands over the control door in place of file descriptor 3")
	var toolchains, writable []string
	flags.Func("writable", "further folder that may be written to with --landlock; may be repeated", func(path string) error {
		writable = append(writable, path)
		return nil
	})
	flags.Func("toolchain", "folder whose bin comes first in PATH; may be repeated", func(path string) error {
		toolchains = append(toolchains, path)
		return nil
	})
	limit, leaveRoot := limitFlags(flags), rootFlags(flags) // drivers pass these: see limits.go, ownkernel.go
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := limit(); err != nil {
		return err
	}
	if err := leaveRoot(*workspace); err != nil {
		return err
	}
	if *walled {
		if err := landlock(append(writable, *workspace)); err != nil {
			return err
		}
	}
	listener, allow, err := openDoor(*joined, *fetched)
	if err != nil {
		return err
	}
	if os.Getenv("GOMAXPROCS") != "" { // the driver of a kernel that is slow to start threads
		defer time.AfterFunc(startTime, runtime.SetDefaultGOMAXPROCS).Stop()
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	return guest.NewServer(guest.Config{
		Version: version, Listener: listener, Workspace: *workspace, Worktrees: sandbox.WorktreesInside, GuestDir: sandbox.GuestInside,
		Orphan: *orphan, Allow: allow, Env: guest.Environment(toolchains, sandbox.TrustInside), Programs: guest.NewReaper(true),
		Session: []string{"/proc/self/exe", sessionArg},
		Proxy:   guest.ProxyListens,
		Names:   guest.NamesListen,
	}).Serve(ctx)
	// What still runs ends with this process: the kernel kills a pid namespace
	// whose first process is gone.
}

// openDoor returns the control door and who may speak at it. Behind a connection is the relay,
// and nobody inside can make another. The door is file descriptor 3, or what the socket fetched
// hands over.
func openDoor(joined bool, fetched string) (net.Listener, func(net.Conn) error, error) {
	number := door
	if fetched != "" {
		var err error
		if number, err = fetchDoor(fetched); err != nil {
			return nil, nil, fmt.Errorf("fetch the control door: %w", err)
		}
	}
	handed := os.NewFile(uintptr(number), "control")
	defer handed.Close()
	if joined {
		conn, err := net.FileConn(handed)
		if err != nil {
			return nil, nil, fmt.Errorf("file descriptor 3 is no connection: %w", err)
		}
		return guest.SingleListener(conn), func(net.Conn) error { return nil }, nil
	}
	listener, err := net.FileListener(handed)
	if err != nil {
		return nil, nil, fmt.Errorf("file descriptor %d is no listening socket: %w", number, err)
	}
	return listener, guest.OutsideOnly, nil
}

// defaultWorkspace returns the workspace's folder, "" if the sandbox has none.
func defaultWorkspace() string {
	if info, err := os.Stat(sandbox.WorkspaceInside); err != nil || !info.IsDir() {
		return ""
	}
	return sandbox.WorkspaceInside
}
