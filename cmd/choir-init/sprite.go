package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"choiros/internal/guest/machine"
	"choiros/internal/sandbox"
)

// spriteParts are what this program does around a sandbox in a machine of somebody else's, which
// its driver reaches by running programs there: see internal/sandbox/sprites.
var spriteParts = map[string]func(args []string) error{
	sandbox.ListenArg:   listenAndExec,
	sandbox.JoinArg:     joinDoor,
	sandbox.LoopbackArg: func([]string) error { return machine.RaiseLoopback() },
	sandbox.KernelArg:   sayKernel,
}

// spritePart returns the part that the arguments name; nil if they name none.
func spritePart(args []string) func(args []string) error {
	if len(args) == 0 {
		return nil
	}
	return spriteParts[args[0]]
}

// listenAndExec makes the control door's socket at a path and becomes the program in the further
// arguments, with the socket as its file descriptor 3. It returns only an error.
func listenAndExec(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("%s needs a path and a program", sandbox.ListenArg)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: args[1]}); err != nil {
		return fmt.Errorf("make the control door %s: %w", args[1], err)
	}
	if err := os.Chmod(args[1], 0o600); err != nil {
		return err
	}
	if err := unix.Listen(fd, unix.SOMAXCONN); err != nil {
		return err
	}
	if fd != door {
		if err := unix.Dup3(fd, door, 0); err != nil {
			return err
		}
	} else if _, err := unix.FcntlInt(door, unix.F_SETFD, 0); err != nil {
		return err
	}
	return fmt.Errorf("start %s: %w", args[2], syscall.Exec(args[2], args[2:], os.Environ()))
}

// joinDoor connects to the control door at a path and carries standard input there and what
// comes back to standard output, until either ends.
func joinDoor(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%s needs a path", sandbox.JoinArg)
	}
	conn, err := net.Dial("unix", args[1])
	if err != nil {
		return err
	}
	defer conn.Close()
	ended := make(chan error, 2)
	for _, way := range []struct {
		to   io.Writer
		from io.Reader
	}{{conn, os.Stdin}, {os.Stdout, conn}} {
		go func() { // ends with the process
			_, err := io.Copy(way.to, way.from)
			ended <- err
		}()
	}
	return <-ended
}

// sayKernel prints what the driver must know of the kernel: its release, and its version of
// Landlock, 0 for none.
func sayKernel([]string) error {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return err
	}
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		version = 0
	}
	_, err := fmt.Printf("kernel %s %d\n", unix.ByteSliceToString(name.Release[:]), version)
	return err
}
