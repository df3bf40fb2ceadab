// Command probe runs inside a sandbox and tries what must not work there. Its
// first argument says what; it prints one line of JSON, a Result.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"choiros/internal/guest"
	"choiros/internal/guest/roledoor"
	"choiros/internal/sandbox/sandboxtest/probed"

	"golang.org/x/sys/unix"
)

var tries = map[string]func(args []string) (any, error){
	"facts":   func([]string) (any, error) { return facts() },
	"syscall": rawCall,
	"read":    func(args []string) (any, error) { b, err := os.ReadFile(args[0]); return string(b), err },
	"list":    list,
	"devices": func([]string) (any, error) { return devices() },
	"write":   func(args []string) (any, error) { return nil, os.WriteFile(args[0], []byte("x"), 0o644) },
	"connect": connect,
	"hello":   hello,
	"listen":  listen,
	"mount":   func([]string) (any, error) { return nil, unix.Mount("none", "/tmp", "tmpfs", 0, "") },
	"attach":  func(args []string) (any, error) { return nil, unix.PtraceAttach(number(args[0])) },
	"seize":   func(args []string) (any, error) { return nil, unix.PtraceSeize(number(args[0])) },
	"peek":    peek,
	"type":    typeIntoTerminal,
	"fork":    fork,
	"zombies": zombies,
	"orphans": orphans,
	"hog":     hog,
	"flood":   flood,
	"burn":    burn,
	"sleep":   func([]string) (any, error) { time.Sleep(time.Hour); return nil, nil },
	"reuse":   reuse,
	"user":    func([]string) (any, error) { return nil, newUserNamespace() },
}

func main() {
	if isRole() {
		if err := playRole(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code, played := probed.Play(context.Background(), probed.Host{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Path: func(path string) string { return path }, Dial: dialProxy,
	})
	if played {
		os.Exit(code)
	}
	var r probed.Result
	value, err := tries[os.Args[1]](os.Args[2:])
	if err != nil {
		r.Error = err.Error()
		var errno syscall.Errno
		if errors.As(err, &errno) {
			r.Errno = int(errno)
		}
	}
	r.Value, err = json.Marshal(value)
	if err != nil {
		panic(err)
	}
	json.NewEncoder(os.Stdout).Encode(r)
}

// dialProxy opens a stream to the egress door, the only door for tools.
func dialProxy(ctx context.Context, _ roledoor.Door) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", guest.ProxyAddress)
}

func number(s string) int {
	n, err := strconv.ParseInt(s, 0, 64)
	if err != nil {
		panic(err)
	}
	return int(n)
}

// rawCall makes a system call by its number, with up to six arguments, and returns its
// error.
func rawCall(args []string) (any, error) {
	var a [7]uintptr
	for i, s := range args {
		a[i] = uintptr(number(s))
	}
	if _, _, errno := syscall.RawSyscall6(a[0], a[1], a[2], a[3], a[4], a[5], a[6]); errno != 0 {
		return nil, errno
	}
	return nil, nil
}

func list(args []string) (any, error) {
	entries, err := os.ReadDir(args[0])
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// connect opens a connection to an address and reads one byte from it.
func connect(args []string) (any, error) {
	c, err := net.DialTimeout(args[0], args[1], 2*time.Second)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	c.SetReadDeadline(time.Now().Add(2 * time.Second))
	b := make([]byte, 1)
	_, err = c.Read(b)
	return string(b), err
}

// listen listens at an address with SO_REUSEADDR, as Go sets it, and further options that share a port.
func listen(args []string) (any, error) {
	share := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) {
			for _, option := range args[1:] {
				failed = errors.Join(failed, unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, number(option), 1))
			}
		})
		return errors.Join(err, failed)
	}}
	l, err := share.Listen(context.Background(), "tcp", args[0])
	if err != nil {
		return nil, err
	}
	return nil, l.Close()
}

// hello sends the request hello to a control door, as the control plane does.
func hello(args []string) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return guest.NewClient(func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", args[0])
	}).Hello(ctx)
}

// peek reads another process's memory without stopping it.
func peek(args []string) (any, error) {
	var b [8]byte
	local := []unix.Iovec{{Base: &b[0], Len: 8}}
	_, err := unix.ProcessVMReadv(number(args[0]), local, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
	return nil, err
}

// typeIntoTerminal pushes a character into the input of the terminal at descriptor 0
// (TIOCSTI).
func typeIntoTerminal([]string) (any, error) {
	c := byte('x')
	_, _, errno := syscall.Syscall(unix.SYS_IOCTL, 0, unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
	if errno != 0 {
		return nil, errno
	}
	return nil, nil
}

func newUserNamespace() error {
	cmd := exec.Command("/proc/self/exe", "facts")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER}
	return cmd.Run()
}

// fork starts processes until it has the given number or is refused, and returns how many
// it started, or how many of them still ran when it was refused.
func fork(args []string) (any, error) {
	var pids []int
	for len(pids) < number(args[0]) {
		pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
		if errno != 0 {
			return countRunning(pids), errno
		}
		if pid == 0 {
			for {
				syscall.RawSyscall(syscall.SYS_PPOLL, 0, 0, 0)
			}
		}
		pids = append(pids, int(pid))
		defer syscall.Kill(int(pid), syscall.SIGKILL)
	}
	return len(pids), nil
}

// zombies leaves children that have ended until it has the given number or is refused, and returns
// how many.
func zombies(args []string) (any, error) {
	for n := 0; n < number(args[0]); n++ {
		pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
		if errno != 0 {
			return n, errno
		}
		if pid == 0 {
			syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	return number(args[0]), nil
}

// orphans makes the given number of processes, one after the other, each of which ends without a
// parent, and returns how many. Where there are too many it waits for those before to be gone.
func orphans(args []string) (any, error) {
	deadline := time.Now().Add(20 * time.Second)
	for n := 0; n < number(args[0]); n++ {
		pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
		if errno != 0 {
			return n, errno
		}
		if pid == 0 {
			_, _, failed := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
			syscall.RawSyscall(syscall.SYS_EXIT_GROUP, uintptr(failed), 0, 0) // the grandchild too
		}
		var status syscall.WaitStatus
		_, err := syscall.Wait4(int(pid), &status, 0, nil)
		failed := syscall.Errno(status.ExitStatus())
		switch {
		case err != nil:
			return n, err
		case failed == syscall.EAGAIN && time.Now().Before(deadline):
			n--
			time.Sleep(time.Millisecond)
		case failed != 0:
			return n, failed
		}
	}
	return number(args[0]), nil
}

// countRunning returns how many of these children have not ended: a kernel may end the
// child of a program with several threads.
func countRunning(pids []int) int {
	n := 0
	for _, pid := range pids {
		if ended, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil); ended == 0 && err == nil {
			n++
		}
	}
	return n
}

// hog allocates and touches memory, a mebibyte at a time, up to the given number of
// bytes.
func hog(args []string) (any, error) {
	const piece = 1 << 20
	for n := 0; n < number(args[0]); n += piece {
		b, err := unix.Mmap(-1, 0, piece, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return n, err
		}
		for i := 0; i < piece; i += 4096 {
			b[i] = 1
		}
	}
	return number(args[0]), nil
}

// flood makes the given number of empty files in a folder, or as many as it may, and returns how many.
func flood(args []string) (any, error) {
	for n := 0; n < number(args[1]); n++ {
		fd, err := unix.Open(args[0]+"/"+strconv.Itoa(n), unix.O_CREAT|unix.O_WRONLY, 0o600)
		if err != nil {
			return n, err
		}
		unix.Close(fd)
	}
	return number(args[1]), nil
}

// burn keeps two cores busy for the given milliseconds of wall time and returns the CPU
// and wall time used.
func burn(args []string) (any, error) {
	began := time.Now()
	end := began.Add(time.Duration(number(args[0])) * time.Millisecond)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for x := 0; time.Now().Before(end); x++ {
				_ = fmt.Sprint(x)
			}
		})
	}
	wg.Wait()
	var u unix.Rusage
	err := unix.Getrusage(unix.RUSAGE_SELF, &u)
	return probed.Burnt{CPUMS: (u.Utime.Nano() + u.Stime.Nano()) / 1e6, WallMS: time.Since(began).Milliseconds()}, err
}
