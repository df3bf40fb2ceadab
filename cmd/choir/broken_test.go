package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"choiros/internal/sandbox"
)

// breaks is the environment variable that names a part of isolation. TestMain takes it from this
// process, and what it starts, before it becomes choir. For a version of Landlock descriptor 3 is a
// socket that gets the descriptor by which the test answers for the kernel.
const breaks = "CHOIR_TEST_WITHOUT"

// numberAt, flagsAt and lastAt are where a filter finds a call's number and its first and third argument.
const (
	numberAt = 0
	flagsAt  = 16
	lastAt   = 32
)

// broken are the parts that can be taken away by a filter of system calls.
var broken = map[string][]bpf.Instruction{
	"seccomp":         append(refuseWhen(unix.SYS_PRCTL, flagsAt, unix.PR_SET_SECCOMP, unix.EINVAL), refuseCall(unix.SYS_SECCOMP, unix.ENOSYS)...),
	"landlock":        refuseCall(unix.SYS_LANDLOCK_CREATE_RULESET, unix.ENOSYS),
	"user namespaces": append(append(withoutFlag(unix.SYS_CLONE), withoutFlag(unix.SYS_UNSHARE)...), refuseCall(unix.SYS_CLONE3, unix.ENOSYS)...),
	"landlock 1":      askWhen(unix.SYS_LANDLOCK_CREATE_RULESET, lastAt, unix.LANDLOCK_CREATE_RULESET_VERSION),
	"landlock 2":      askWhen(unix.SYS_LANDLOCK_CREATE_RULESET, lastAt, unix.LANDLOCK_CREATE_RULESET_VERSION),
}

func loadPart(at uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: at, Size: 4} }

func ruling(action, data uint32) bpf.Instruction { return bpf.RetConstant{Val: action | data} }

// refuseCall makes a call fail with an error.
func refuseCall(call uint32, with syscall.Errno) []bpf.Instruction {
	return []bpf.Instruction{loadPart(numberAt), bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: 1}, ruling(unix.SECCOMP_RET_ERRNO, uint32(with))}
}

// ruleWhen does it when an argument has a value.
func ruleWhen(call, at, value uint32, then bpf.Instruction) []bpf.Instruction {
	return []bpf.Instruction{
		loadPart(numberAt), bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: 3},
		loadPart(at), bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: value, SkipTrue: 1}, then,
	}
}

func refuseWhen(call, at, value uint32, with syscall.Errno) []bpf.Instruction {
	return ruleWhen(call, at, value, ruling(unix.SECCOMP_RET_ERRNO, uint32(with)))
}

// askWhen has the test answer a call.
func askWhen(call, at, value uint32) []bpf.Instruction {
	return ruleWhen(call, at, value, ruling(unix.SECCOMP_RET_USER_NOTIF, 0))
}

// withoutFlag refuses a call that makes a user namespace.
func withoutFlag(call uint32) []bpf.Instruction {
	return []bpf.Instruction{
		loadPart(numberAt), bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: 3},
		loadPart(flagsAt), bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: unix.CLONE_NEWUSER, SkipTrue: 1}, ruling(unix.SECCOMP_RET_ERRNO, uint32(unix.EPERM)),
	}
}

// breakAndBecomeChoir takes a part of isolation away and starts this program again, as choir.
func breakAndBecomeChoir(part string) error {
	runtime.LockOSThread() // the one whose filter and mounts the next program has
	if part == "cgroups" {
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return err
		}
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return err
		}
		if err := unix.Unmount("/sys/fs/cgroup", unix.MNT_DETACH); err != nil {
			return err
		}
	} else if err := putFilter(broken[part]); err != nil {
		return err
	}
	if err := os.Unsetenv(breaks); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", os.Args, os.Environ())
}

// putFilter puts a filter in force for this thread, and hands its listener to the test when it asks.
func putFilter(checks []bpf.Instruction) error {
	raw, err := bpf.Assemble(append(append([]bpf.Instruction{}, checks...), ruling(unix.SECCOMP_RET_ALLOW, 0)))
	if err != nil {
		return err
	}
	flags := uintptr(0)
	for _, in := range checks {
		if in == ruling(unix.SECCOMP_RET_USER_NOTIF, 0) {
			flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
		}
	}
	program := unix.SockFprog{Len: uint16(len(raw)), Filter: (*unix.SockFilter)(unsafe.Pointer(&raw[0]))}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	listener, _, errno := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
	if errno != 0 || flags == 0 {
		return errnoOrNil(errno)
	}
	return unix.Sendmsg(3, []byte{0}, unix.UnixRights(int(listener)), nil, 0)
}

func errnoOrNil(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// notification and notified are struct seccomp_notif and seccomp_notif_resp of the kernel.
type notification struct {
	id         uint64
	pid, flags uint32
	data       [64]byte
}

type notified struct {
	id           uint64
	val          int64
	errno, flags int32
}

// answerFor answers the calls of one listener with a value until nobody has its filter any more.
func answerFor(socket *os.File, value int64) error {
	conn, err := net.FileConn(socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	oob := make([]byte, 64)
	_, n, _, _, err := conn.(*net.UnixConn).ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) == 0 {
		return errors.Join(err, fmt.Errorf("%d messages", len(messages)))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return err
	}
	defer unix.Close(fds[0])
	const receive, send = 0xc0502100, 0xc0182101 // SECCOMP_IOCTL_NOTIF_RECV and SEND
	for {
		var n notification
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(fds[0]), Events: unix.POLLIN}}, -1); err == unix.EINTR {
			continue
		}
		_, _, errno := syscall.Syscall(unix.SYS_IOCTL, uintptr(fds[0]), receive, uintptr(unsafe.Pointer(&n)))
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			return nil // it has ended
		}
		r := notified{id: n.id, val: value}
		_, _, _ = syscall.Syscall(unix.SYS_IOCTL, uintptr(fds[0]), send, uintptr(unsafe.Pointer(&r))) // or it has ended
	}
}

// TestTheDoctorTellsWhatIsBroken takes each part of the isolation away from a choir, and holds
// what choir doctor says against what it says with all of them.
func TestTheDoctorTellsWhatIsBroken(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root takes the cgroups away")
	}
	whole := doctorOf(t, "", nil)
	if !whole.Usable || whole.Level.Tasks != "landlock" || !strings.Contains(whole.Level.Name, "cgroup") {
		t.Skipf("this machine lacks a part itself: %+v", whole)
	}
	old := t.TempDir()
	script := "#!/bin/sh\n[ \"$1\" = --version ] && echo bubblewrap 0.6.2 && exit 0\nexec /usr/bin/bwrap \"$@\"\n"
	if err := os.WriteFile(filepath.Join(old, "bwrap"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		part, check string
		usable      bool
		name, lacks string // words of the level that must be there, and of what it lacks
	}{
		{"seccomp", "seccomp", false, "", ""},
		{"user namespaces", "namespaces", false, "", ""},
		{"an old bubblewrap", "bubblewrap", false, "", ""},
		{"cgroups", "limits", true, "no capabilities, rlimits", "CPU time is not limited."},
		{"landlock", "landlock", true, "namespaces, seccomp, no capabilities", "This kernel lacks Landlock"},
		{"landlock 1", "landlock", true, "namespaces, seccomp, no capabilities", "This kernel lacks Landlock"},
		{"landlock 2", "", true, "seccomp, landlock", "A task in one project can write in others"},
	} {
		t.Run(c.part, func(t *testing.T) {
			env := []string{breaks + "=" + c.part}
			if c.part == "an old bubblewrap" {
				env = []string{"PATH=" + old + ":" + os.Getenv("PATH")}
			}
			r := doctorOf(t, c.part, env)
			if r.Usable != c.usable || !strings.Contains(r.Level.Name, c.name) || !strings.Contains(strings.Join(r.Level.Missing, "\n"), c.lacks) {
				t.Errorf("it says usable %v, %+v", r.Usable, r.Level)
			}
			if strings.HasPrefix(c.part, "landlock") && r.Level.Tasks != "" {
				t.Errorf("tasks are held by %q", r.Level.Tasks)
			}
			for _, check := range r.Checks {
				if check.OK == (check.Name == c.check) {
					t.Errorf("%s is %v: %s", check.Name, check.OK, check.Detail)
				}
			}
		})
	}
}

// doctorOf returns what choir doctor says of the isolation, without a part of it.
func doctorOf(t *testing.T, part string, env []string) sandbox.Report {
	t.Helper()
	m := newMachine(t, "")
	m.env = env
	if version, ok := strings.CutPrefix(part, "landlock "); ok {
		number, err := strconv.ParseInt(version, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
		m.inherited = []*os.File{theirs}
		answered := make(chan error, 1)
		go func() { answered <- answerFor(ours, number) }()
		defer func() {
			theirs.Close()
			if err := <-answered; err != nil {
				t.Error(err)
			}
			ours.Close()
		}()
	}
	r := m.run("doctor", "--json")
	var said struct{ Isolation sandbox.Report }
	if err := json.NewDecoder(strings.NewReader(r.out)).Decode(&said); err != nil { // a problem follows
		t.Fatalf("%v: exit code %d, %s", err, r.code, r.errOut)
	}
	if want := map[bool]int{true: 0, false: 5}[said.Isolation.Usable]; r.code != want {
		t.Errorf("the exit code is %d, wanted %d: %s", r.code, want, r.errOut)
	}
	return said.Isolation
}
