package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"choiros/internal/choir"

	"golang.org/x/sys/unix"
)

// Process is one process of the host. A pidfd, or in a handle its start time, ensures
// that a reused pid is not taken for it.
type Process struct {
	PID   int
	Start uint64   // clock ticks since the machine started, field 22 of stat
	fd    *os.File // pidfd, as a file so that waiting needs no thread
	raw   int      // its number, valid until closed

	mu     sync.Mutex // guards closed
	closed bool
}

// OpenProcess opens the process with a pid. If start is not 0 and differs from the
// process's start time, or there is no such process, or it is a zombie, the error is code
// not_found.
func OpenProcess(pid int, start uint64) (*Process, error) {
	const op = "host.process"
	if pid <= 0 {
		return nil, choir.E(op, choir.CodeNotFound, "%d is no process", pid)
	}
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil, choir.Wrap(op, notFoundOr(err), err, "open process %d", pid)
	}
	p := &Process{PID: pid, raw: fd, fd: os.NewFile(uintptr(fd), "pidfd")}
	stat, err := ReadStat(pid)
	if err == nil && start != 0 && stat.Start != start {
		err = choir.E(op, choir.CodeNotFound, "process %d is another one by now", pid)
	}
	if err == nil && stat.State == 'Z' {
		err = choir.E(op, choir.CodeNotFound, "process %d has ended", pid)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	p.Start = stat.Start
	return p, nil
}

// OpenNamed opens the process with a name; nil if it has ended.
func OpenNamed(n ProcessName) (*Process, error) {
	p, err := OpenProcess(n.PID, n.Start)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return nil, nil
	}
	return p, err
}

func notFoundOr(err error) choir.Code {
	if errors.Is(err, unix.ESRCH) || errors.Is(err, os.ErrNotExist) {
		return choir.CodeNotFound
	}
	return choir.CodeInternal
}

// Close closes the handle; the process runs on. It does nothing for nil.
func (p *Process) Close() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.fd.Close()
}

// Kill sends SIGKILL. It does nothing for a nil, an ended and a closed process.
func (p *Process) Kill() error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	err := unix.PidfdSendSignal(p.raw, unix.SIGKILL, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return choir.Wrap("host.kill", choir.CodeInternal, err, "kill process %d", p.PID)
}

// Wait returns nil when the process has ended, or the error of ctx. It blocks no thread,
// because a pidfd becomes readable. There may be one Wait at a time.
func (p *Process) Wait(ctx context.Context) error {
	conn, err := p.fd.SyscallConn()
	if err != nil {
		return err
	}
	expired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		p.fd.SetReadDeadline(longAgo)
		close(expired)
	})
	defer func() {
		if !stop() {
			<-expired // otherwise the next Wait could meet the deadline of this one
			p.fd.SetReadDeadline(noDeadline)
		}
	}()
	err = conn.Read(func(fd uintptr) bool { return ended(int(fd)) })
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func ended(pidfd int) bool {
	fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n == 1
}

// HasEnded reports whether the process has ended, or the kernel takes it apart. A nil and a closed
// process have ended.
func (p *Process) HasEnded() bool {
	if p == nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || ended(p.raw) {
		return true
	}
	stat, err := ReadStat(p.PID)
	return err == nil && stat.Start == p.Start && stat.Exiting
}

// A read deadline in the past ends a wait.
var longAgo, noDeadline = time.Unix(1, 0), time.Time{}

// Stat is a part of the kernel's statistics of a process.
type Stat struct {
	State    byte   // R, S, Z and so on, see proc(5)
	Parent   int    // pid; 0 for one outside of the pid namespace
	CPUTicks uint64 // user and system, of itself and of the children it waited for
	Start    uint64 // in ticks since the boot
	Exiting  bool   // the kernel takes it apart
}

// ReadStat reads /proc/PID/stat, see proc(5). If there is no such process the error is
// code not_found.
func ReadStat(pid int) (Stat, error) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Stat{}, choir.Wrap("host.process", notFoundOr(err), err, "look at process %d", pid)
	}
	s, err := parseStat(raw)
	if err != nil {
		return Stat{}, choir.Wrap("host.process", choir.CodeInternal, err, "read the state of process %d", pid)
	}
	return s, nil
}

func parseStat(raw []byte) (Stat, error) {
	// The name in the parentheses may itself contain anything.
	_, rest, ok := bytes.Cut(raw[max(0, bytes.LastIndexByte(raw, ')')):], []byte(") "))
	fields := bytes.Fields(rest)
	const flagsField, firstTimeField, startField = 6, 11, 19 // counted from the state
	const exiting = 0x4                                      // PF_EXITING of the flags
	if !ok || len(fields) <= startField {
		return Stat{}, fmt.Errorf("%d fields in %q", len(fields), raw)
	}
	out := Stat{State: fields[0][0]}
	var err error
	if out.Parent, err = strconv.Atoi(string(fields[1])); err != nil {
		return Stat{}, err
	}
	flags, err := strconv.ParseUint(string(fields[flagsField]), 10, 64)
	if err != nil {
		return Stat{}, err
	}
	out.Exiting = flags&exiting != 0
	for _, field := range fields[firstTimeField : firstTimeField+4] {
		n, err := strconv.ParseUint(string(field), 10, 64)
		if err != nil {
			return Stat{}, err
		}
		out.CPUTicks += n
	}
	out.Start, err = strconv.ParseUint(string(fields[startField]), 10, 64)
	return out, err
}

// Descendants returns the pids of a process and of everything below it, as visible now.
func Descendants(pid int) []int {
	out := []int{pid}
	for i := 0; i < len(out); i++ {
		out = append(out, Children(out[i])...)
	}
	return out
}

// Children returns the pids of the children of a process, as visible now; none if it has
// ended.
func Children(pid int) []int {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(dir)
	if err != nil {
		return nil // it has ended
	}
	var out []int
	for _, t := range threads {
		raw, err := os.ReadFile(dir + "/" + t.Name() + "/children")
		if err != nil {
			continue // the thread has ended
		}
		for _, f := range bytes.Fields(raw) {
			if n, err := strconv.Atoi(string(f)); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// FindByArgument returns the pids of the other processes, as visible now, that have text somewhere in
// their arguments.
func FindByArgument(text string) (pids []int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	for _, path := range lines {
		line, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(line, []byte(text)) {
			continue // it has ended, or is another's
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}
