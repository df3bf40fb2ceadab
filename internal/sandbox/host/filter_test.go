package host

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// filteredVariable makes this test process load the filter and make the calls
// that it lists.
const filteredVariable = "CHOIR_HOST_FILTERED"

// expectation is a system call and what the filter makes of it. The calls are
// made outside a sandbox and, when the tests run as root, with capabilities, so
// that it is the filter that refuses.
type expectation struct {
	name string
	nr   uintptr
	args [3]uintptr
	want unix.Errno // 0: anything the filter does not say
}

func expectations() []expectation {
	var out []expectation
	for _, d := range append(denied(), deniedHere()...) {
		out = append(out, expectation{name: d.name, nr: uintptr(d.number), want: d.errno})
	}
	socket := func(name string, domain, kind, protocol uintptr, want unix.Errno) expectation {
		return expectation{"socket " + name, unix.SYS_SOCKET, [3]uintptr{domain, kind, protocol}, want}
	}
	for _, number := range unknownCalls() {
		out = append(out, expectation{"call " + strconv.Itoa(int(number)), number, [3]uintptr{^uintptr(0), ^uintptr(0), ^uintptr(0)}, unix.ENOSYS})
	}
	for name, flag := range map[string]uintptr{
		"mount": unix.CLONE_NEWNS, "cgroup": unix.CLONE_NEWCGROUP, "uts": unix.CLONE_NEWUTS, "ipc": unix.CLONE_NEWIPC,
		"user": unix.CLONE_NEWUSER, "pid": unix.CLONE_NEWPID, "net": unix.CLONE_NEWNET,
	} {
		out = append(out, expectation{"clone " + name, unix.SYS_CLONE, [3]uintptr{flag | uintptr(unix.SIGCHLD)}, unix.EPERM})
	}
	return append(out,
		expectation{"ptrace attach", unix.SYS_PTRACE, [3]uintptr{ptraceAttach, 1}, unix.EPERM},
		expectation{"ptrace seize", unix.SYS_PTRACE, [3]uintptr{ptraceSeize, 1}, unix.EPERM},
		expectation{"ptrace of a tracee", unix.SYS_PTRACE, [3]uintptr{unix.PTRACE_CONT, 1}, unix.ESRCH},
		expectation{"prlimit64 of itself", unix.SYS_PRLIMIT64, [3]uintptr{0, unix.RLIMIT_CPU}, 0},
		expectation{"prlimit64 of another", unix.SYS_PRLIMIT64, [3]uintptr{1, unix.RLIMIT_CPU}, unix.EPERM},
		expectation{"personality query", unix.SYS_PERSONALITY, [3]uintptr{personalityQuery}, 0},
		expectation{"personality without ASLR", unix.SYS_PERSONALITY, [3]uintptr{personalityNoASLR}, 0},
		expectation{"personality of READ_IMPLIES_EXEC", unix.SYS_PERSONALITY, [3]uintptr{0x0400000}, unix.EPERM},
		expectation{"ioctl TIOCSTI", unix.SYS_IOCTL, [3]uintptr{^uintptr(0), unix.TIOCSTI}, unix.EPERM},
		expectation{"ioctl TIOCSTI with a high half", unix.SYS_IOCTL, [3]uintptr{^uintptr(0), 1<<32 | unix.TIOCSTI}, unix.EPERM},
		expectation{"ioctl TIOCLINUX", unix.SYS_IOCTL, [3]uintptr{^uintptr(0), tiocLinux}, unix.EPERM},
		expectation{"ioctl TIOCSETD", unix.SYS_IOCTL, [3]uintptr{^uintptr(0), tiocSetLineDisc}, unix.EPERM},
		expectation{"ioctl TCGETS", unix.SYS_IOCTL, [3]uintptr{^uintptr(0), unix.TCGETS}, unix.EBADF},
		expectation{"seccomp with a listener", unix.SYS_SECCOMP, [3]uintptr{unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER}, unix.EPERM},
		expectation{"seccomp without one", unix.SYS_SECCOMP, [3]uintptr{unix.SECCOMP_SET_MODE_FILTER}, unix.EFAULT},
		expectation{"socketpair unix", unix.SYS_SOCKETPAIR, [3]uintptr{unix.AF_UNIX, unix.SOCK_STREAM}, unix.EFAULT},
		expectation{"socketpair tipc", unix.SYS_SOCKETPAIR, [3]uintptr{unix.AF_TIPC, unix.SOCK_STREAM}, unix.EAFNOSUPPORT},
		socket("unix", unix.AF_UNIX, unix.SOCK_STREAM, 0, 0),
		socket("tcp", unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0, 0),
		socket("tcp by number", unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_TCP, 0),
		socket("udp", unix.AF_INET6, unix.SOCK_DGRAM, unix.IPPROTO_UDP, 0),
		socket("mptcp", unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP, unix.EPROTONOSUPPORT),
		socket("sctp", unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP, unix.EPROTONOSUPPORT),
		socket("raw", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP, unix.EPERM),
		socket("raw 6", unix.AF_INET6, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMPV6, unix.EPERM),
		socket("packet type", unix.AF_INET, unix.SOCK_PACKET, 0, unix.EPERM),
		socket("routes", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE, 0),
		socket("netfilter", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER, unix.EPROTONOSUPPORT),
		socket("kobject", unix.AF_NETLINK, unix.SOCK_DGRAM, unix.NETLINK_KOBJECT_UEVENT, unix.EPROTONOSUPPORT),
		socket("packet", unix.AF_PACKET, unix.SOCK_RAW, 0, unix.EAFNOSUPPORT),
		socket("vsock", unix.AF_VSOCK, unix.SOCK_STREAM, 0, unix.EAFNOSUPPORT),
		socket("alg", unix.AF_ALG, unix.SOCK_SEQPACKET, 0, unix.EAFNOSUPPORT),
		socket("bluetooth", unix.AF_BLUETOOTH, unix.SOCK_RAW, 0, unix.EAFNOSUPPORT),
		socket("xdp", unix.AF_XDP, unix.SOCK_RAW, 0, unix.EAFNOSUPPORT),
	)
}

// unknownCalls returns the numbers up to 1024, and some beyond, of calls that are in no rule: those
// that a sandbox does not need, and those that only later kernels will have.
func unknownCalls() []uintptr {
	known := map[uint32]bool{}
	for _, r := range rules() {
		known[r.number] = true
	}
	var out []uintptr
	// The kernel lets uretprobe and uprobe past every filter: they are made by code that it puts into
	// a program itself, and end a program that makes them elsewhere.
	const uretprobe, uprobe = 335, 336
	for number := range uint32(1025) {
		if !known[number] && number != uretprobe && number != uprobe {
			out = append(out, uintptr(number))
		}
	}
	return append(out, 1<<20, 1<<30-1, 1<<31, 1<<32-1)
}

// TestFilter makes every call of the table under the filter, and only under the
// filter: a line that the program got wrong fails.
func TestFilter(t *testing.T) {
	if os.Getenv(filteredVariable) != "" {
		callUnderFilter(t)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^TestFilter$", "-test.v")
	cmd.Env = append(os.Environ(), filteredVariable+"=1")
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got := map[string]unix.Errno{}
	for line := range strings.Lines(string(text)) {
		name, errno, ok := strings.Cut(strings.TrimSpace(line), "=>")
		if n, err := strconv.Atoi(errno); ok && err == nil {
			got[name] = unix.Errno(n)
		}
	}
	for _, e := range expectations() {
		t.Run(e.name, func(t *testing.T) {
			if errno, ok := got[e.name]; !ok || errno != e.want {
				t.Errorf("got %d (%v), want %d (%v)", errno, ok, e.want, e.want)
			}
		})
	}
}

func callUnderFilter(t *testing.T) {
	runtime.LockOSThread() // for good: the filter stays on this thread
	raw, err := SeccompProgram()
	if err != nil {
		t.Fatal(err)
	}
	program := unix.SockFprog{Len: uint16(len(raw) / 8), Filter: (*unix.SockFilter)(unsafe.Pointer(&raw[0]))}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		t.Fatal(err)
	}
	for _, e := range expectations() {
		_, _, errno := syscall.RawSyscall6(e.nr, e.args[0], e.args[1], e.args[2], 0, 0, 0)
		fmt.Printf("%s=>%d\n", e.name, errno)
	}
	if foreignNumbers != 0 {
		_, _, errno := syscall.RawSyscall(foreignNumbers|39, 0, 0, 0)
		if errno != unix.ENOSYS {
			t.Errorf("an x32 call gave %d", errno)
		}
	}
}

// TestFilterIsShort checks the assembled program for the loader's own rules, that no two rules are
// about one call, and that a call is found by few comparisons.
func TestFilterIsShort(t *testing.T) {
	const most = 4096 // BPF_MAXINSNS
	if n := len(program(rules())); n > most {
		t.Errorf("the program has %d instructions", n)
	}
	if n := len(ranges(rules())); n > 1<<8 {
		t.Errorf("there are %d ranges, so a call is found by more than 8 comparisons", n)
	}
	seen := map[uint32]string{}
	for _, r := range rules() {
		if other, ok := seen[r.number]; ok {
			t.Errorf("%s and %s have the same number %d, so the second is dead", other, r.name, r.number)
		}
		seen[r.number] = r.name
	}
}

// mostSteps is how many instructions the filter may take to come to the check of a call, by its
// number: it must not try one rule after the other.
const mostSteps = 24

// TestTheFilterFindsARuleInFewSteps follows the program for every number that a call may have.
func TestTheFilterFindsARuleInFewSteps(t *testing.T) {
	ruled := map[uint32]rule{}
	for _, r := range rules() {
		ruled[r.number] = r
	}
	p := program(rules())
	for number := range uint32(1024) {
		want := deny(unix.ENOSYS)
		if r, ok := ruled[number]; ok {
			want = r.check[0]
		}
		if first, steps := followFilter(t, p, number); first != want || steps > mostSteps {
			t.Errorf("call %d: comes to %v, want %v, after %d steps of at most %d", number, first, want, steps, mostSteps)
		}
	}
}

// followFilter follows a program for a call of this architecture with a number, and returns the
// first instruction that reads another part of the call or returns, and after how many steps.
func followFilter(t *testing.T, p []bpf.Instruction, number uint32) (first bpf.Instruction, steps int) {
	var loaded uint32
	for at := 0; ; at++ {
		steps++
		switch in := p[at].(type) {
		case bpf.LoadAbsolute:
			switch in.Off {
			case offsetArch:
				loaded = auditArch
			case offsetNumber:
				loaded = number
			default:
				return in, steps
			}
		case bpf.RetConstant:
			return in, steps
		case bpf.Jump:
			at += int(in.Skip)
		case bpf.JumpIf:
			holds := map[bpf.JumpTest]bool{
				bpf.JumpEqual: loaded == in.Val, bpf.JumpNotEqual: loaded != in.Val, bpf.JumpLessThan: loaded < in.Val,
			}
			if holds[in.Cond] {
				at += int(in.SkipTrue)
			} else {
				at += int(in.SkipFalse)
			}
		default:
			t.Fatalf("instruction %d is %v", at, in)
		}
	}
}
