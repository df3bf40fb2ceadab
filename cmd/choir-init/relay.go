package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"choiros/internal/guest"
	"choiros/internal/sandbox"
)

// inside is the file descriptor of a relay's way into the sandbox: a connected socket.
const inside = door + 1

// isRelay reports whether the arguments are those of a relay. Further arguments name the
// sandbox in lists of processes.
func isRelay(args []string) bool { return len(args) > 0 && args[0] == sandbox.RelayArg }

// relay runs on the host for a sandbox that has no socket there, as the sandbox's host user. It
// carries the control door's connections to choir-init until the sandbox ends.
func relay() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	handed := os.NewFile(door, "control")
	listener, err := net.FileListener(handed)
	handed.Close()
	if err != nil {
		return fmt.Errorf("file descriptor %d is no listening socket: %w", door, err)
	}
	way := os.NewFile(inside, "inside")
	conn, err := net.FileConn(way)
	way.Close()
	if err != nil {
		return fmt.Errorf("file descriptor %d is no connection: %w", inside, err)
	}
	// A ^C in the control plane's terminal is not for sandboxes.
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP)
	return guest.Relay(context.Background(), listener, conn)
}
