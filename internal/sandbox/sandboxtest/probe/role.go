package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"choiros/internal/guest"
	"choiros/internal/guest/roledoor"
	"choiros/internal/guestbin"
	"choiros/internal/sandbox/sandboxtest/probed"

	"golang.org/x/sys/unix"
)

// playRole runs this program as a role, which first of all keeps tools from tracing it.
func playRole() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return err
	}
	door, err := roledoor.Inherited()
	if err != nil {
		return err
	}
	return probed.PlayRole(context.Background(), os.Stdin, door.Dial)
}

// isRole reports whether choir-init started this program as the Associate.
func isRole() bool { return filepath.Base(os.Args[0]) == guestbin.Associate }

// maxForks is the limit on the forks that use up pids.
const maxForks = 80_000

// reuse opens connections from short-lived processes and kills the role until a new role
// process has the pid of one of them. It returns whom init takes each connection for,
// before and after.
func reuse(args []string) (any, error) {
	runtime.LockOSThread()
	at := syscall.RawSockaddrInet4{Family: syscall.AF_INET, Addr: [4]byte{127, 0, 0, 1}}
	port := number(guest.ProxyAddress[strings.LastIndexByte(guest.ProxyAddress, ':')+1:])
	at.Port = uint16(port>>8) | uint16(port&0xff)<<8 // network order on a little-endian machine
	// The first 300 numbers are given once only.
	for pid := 0; pid <= 300; {
		var err error
		if pid, err = inChild(syscall.SYS_GETPID, 0, 0, 0); err != nil {
			return nil, err
		}
	}
	var out probed.Reuse
	var socks []int
	used := map[int]bool{}
	for range number(args[0]) {
		fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		pid, err := inChild(syscall.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&at)), unsafe.Sizeof(at))
		if err != nil {
			return nil, err
		}
		socks, used[pid] = append(socks, fd), true
		out.Before = append(out.Before, ask(fd))
	}
	for forks := 0; ; forks++ {
		if forks == maxForks {
			return nil, errors.New("no role got the number of a process before")
		}
		pid, err := inChild(syscall.SYS_GETPID, 0, 0, 0)
		if err != nil {
			return nil, err
		}
		if !used[pid] {
			continue
		}
		if out.Role, err = nextRole(); err != nil {
			return nil, err
		}
		if used[out.Role] {
			break
		}
	}
	for _, fd := range socks {
		out.After = append(out.After, ask(fd))
	}
	return out, nil
}

// inChild makes a system call in a child process, waits for the child, and returns its
// pid and the call's error.
func inChild(call, a, b, c uintptr) (int, error) {
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	if pid == 0 {
		_, _, failed := syscall.RawSyscall(call, a, b, c)
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, uintptr(failed), 0, 0) // the error as its exit code
	}
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(int(pid), &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err == nil && status.ExitStatus() != 0 {
			err = syscall.Errno(status.ExitStatus())
		}
		return int(pid), err
	}
}

// ask sends a line over a connection and returns the answer, or the text of the error.
func ask(fd int) string {
	patience := syscall.Timeval{Sec: 10}
	syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &patience)
	if _, err := unix.SendmsgN(fd, []byte("?\n"), nil, nil, unix.MSG_NOSIGNAL); err != nil {
		return err.Error()
	}
	var answer [64]byte
	n, err := syscall.Read(fd, answer[:])
	for err == syscall.EINTR { // the children that ended send signals
		n, err = syscall.Read(fd, answer[:])
	}
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(answer[:n]))
}

// nextRole kills the role's process and polls until a new one exists. It returns the new
// pid.
func nextRole() (int, error) {
	old := rolePID()
	if old != 0 {
		if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
			return 0, err
		}
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if pid := rolePID(); pid != 0 && pid != old {
			return pid, nil
		}
	}
	return 0, errors.New("no role was started again")
}

func rolePID() int {
	all, err := processes()
	if err != nil {
		return 0
	}
	for pid, line := range all {
		if strings.TrimSpace(line) == guestbin.Associate {
			return pid
		}
	}
	return 0
}
