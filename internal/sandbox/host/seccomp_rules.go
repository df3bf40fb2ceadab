package host

import (
	"strconv"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const (
	namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	socketTypeMask     = 0xf
	personalityQuery   = 0xffffffff
	personalityNoASLR  = 0x0040000 // debuggers ask for it
	ptraceAttach       = 16
	ptraceSeize        = 0x4206
	tiocSetLineDisc    = 0x5423
	tiocLinux          = 0x541c
	tiocPushBackOneKey = unix.TIOCSTI
)

// rules returns the whole policy: the calls that programs need, and the calls that are refused by an
// answer of their own. Calls that programs probe for fail with ENOSYS, as do all that are in no rule,
// so that they fall back; the others with EPERM.
func rules() []rule {
	var out []rule
	for _, number := range allowed() {
		out = append(out, rule{name: strconv.Itoa(int(number)), number: number, check: []bpf.Instruction{allow()}})
	}
	for _, d := range append(denied(), deniedHere()...) {
		out = append(out, rule{name: d.name, number: d.number, check: []bpf.Instruction{deny(d.errno)}})
	}
	return append(out,
		// glibc falls back to clone, whose flags a filter can read.
		rule{"clone", unix.SYS_CLONE, denyWhenBits(0, namespaceFlags, unix.EPERM)},
		// Only a process that asked for it (TRACEME), as a debugger's child
		// does, can be traced: nobody reaches into another's memory.
		rule{"ptrace", unix.SYS_PTRACE, denyWhenOneOf(0, unix.EPERM, ptraceAttach, ptraceSeize)},
		// Of another process it would end it: the kernel kills a process beyond its limit of
		// processor time, and Landlock's scope of signals does not cover that.
		rule{"prlimit64", unix.SYS_PRLIMIT64, allowOnly(0, unix.EPERM, 0)},
		rule{"personality", unix.SYS_PERSONALITY, allowOnly(0, unix.EPERM, 0, personalityQuery, personalityNoASLR)},
		rule{"ioctl", unix.SYS_IOCTL, denyWhenOneOf(1, unix.EPERM, tiocPushBackOneKey, tiocLinux, tiocSetLineDisc)},
		// Filters of a process's own are fine, answering another's calls is not.
		rule{"seccomp", unix.SYS_SECCOMP, denyWhenBits(1, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, unix.EPERM)},
		rule{"socket", unix.SYS_SOCKET, socketCheck()},
		rule{"socketpair", unix.SYS_SOCKETPAIR, allowOnly(0, unix.EAFNOSUPPORT, unix.AF_UNIX)},
	)
}

// socketCheck allows unix sockets, TCP, UDP (there is only loopback), and the routing
// netlink from which getifaddrs reads.
func socketCheck() []bpf.Instruction {
	return []bpf.Instruction{
		/* 0 */ loadArg(0),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_UNIX, SkipTrue: 16},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET, SkipTrue: 5},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET6, SkipTrue: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_NETLINK, SkipTrue: 1},
		/* 5 */ deny(unix.EAFNOSUPPORT),
		/* 6: netlink */ loadArg(2),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.NETLINK_ROUTE, SkipTrue: 10, SkipFalse: 9},
		/* 8: internet */ loadArg(1),
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: socketTypeMask},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_STREAM, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_DGRAM, SkipTrue: 1},
		/* 12 */ deny(unix.EPERM),
		/* 13 */ loadArg(2),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.IPPROTO_IP, SkipTrue: 3},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.IPPROTO_TCP, SkipTrue: 2},
		/* 16 */ bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.IPPROTO_UDP, SkipTrue: 1},
		/* 17 */ deny(unix.EPROTONOSUPPORT),
		/* 18 */ allow(),
	}
}

type denial struct {
	name   string
	number uint32
	errno  unix.Errno
}

// denied returns the calls that are denied whatever their arguments, with another answer than calls
// that no rule names, or so that nobody allows them by mistake.
func denied() []denial {
	return []denial{
		// The tree that was laid out stays as it is.
		{"mount", unix.SYS_MOUNT, unix.EPERM},
		{"umount2", unix.SYS_UMOUNT2, unix.EPERM},
		{"pivot_root", unix.SYS_PIVOT_ROOT, unix.EPERM},
		{"chroot", unix.SYS_CHROOT, unix.EPERM},
		{"move_mount", unix.SYS_MOVE_MOUNT, unix.EPERM},
		{"open_tree", unix.SYS_OPEN_TREE, unix.EPERM},
		{"open_tree_attr", unix.SYS_OPEN_TREE_ATTR, unix.EPERM},
		{"fsopen", unix.SYS_FSOPEN, unix.EPERM},
		{"fsconfig", unix.SYS_FSCONFIG, unix.EPERM},
		{"fsmount", unix.SYS_FSMOUNT, unix.EPERM},
		{"fspick", unix.SYS_FSPICK, unix.EPERM},
		{"mount_setattr", unix.SYS_MOUNT_SETATTR, unix.EPERM},
		{"name_to_handle_at", unix.SYS_NAME_TO_HANDLE_AT, unix.EPERM},
		{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, unix.EPERM},
		{"quotactl", unix.SYS_QUOTACTL, unix.EPERM},
		{"quotactl_fd", unix.SYS_QUOTACTL_FD, unix.EPERM},
		{"fanotify_init", unix.SYS_FANOTIFY_INIT, unix.EPERM},
		// Programs that ask for mounts this way read mountinfo where there is no such call.
		{"statmount", unix.SYS_STATMOUNT, unix.ENOSYS},
		{"listmount", unix.SYS_LISTMOUNT, unix.ENOSYS},
		// No further namespaces: they open most of the kernel's code.
		{"unshare", unix.SYS_UNSHARE, unix.EPERM},
		{"setns", unix.SYS_SETNS, unix.EPERM},
		{"clone3", unix.SYS_CLONE3, unix.ENOSYS},
		// Nobody reads another process, whoever it belongs to.
		{"process_vm_readv", unix.SYS_PROCESS_VM_READV, unix.EPERM},
		{"process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, unix.EPERM},
		{"process_madvise", unix.SYS_PROCESS_MADVISE, unix.EPERM},
		{"pidfd_getfd", unix.SYS_PIDFD_GETFD, unix.EPERM},
		{"kcmp", unix.SYS_KCMP, unix.EPERM},
		{"migrate_pages", unix.SYS_MIGRATE_PAGES, unix.EPERM},
		{"move_pages", unix.SYS_MOVE_PAGES, unix.EPERM},
		// Kernel programs and keys.
		{"bpf", unix.SYS_BPF, unix.EPERM},
		{"perf_event_open", unix.SYS_PERF_EVENT_OPEN, unix.EPERM},
		{"userfaultfd", unix.SYS_USERFAULTFD, unix.EPERM},
		{"memfd_secret", unix.SYS_MEMFD_SECRET, unix.ENOSYS},
		{"keyctl", unix.SYS_KEYCTL, unix.EPERM},
		{"add_key", unix.SYS_ADD_KEY, unix.EPERM},
		{"request_key", unix.SYS_REQUEST_KEY, unix.EPERM},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, unix.ENOSYS},
		{"io_uring_enter", unix.SYS_IO_URING_ENTER, unix.ENOSYS},
		{"io_uring_register", unix.SYS_IO_URING_REGISTER, unix.ENOSYS},
		// The machine.
		{"kexec_load", unix.SYS_KEXEC_LOAD, unix.EPERM},
		{"init_module", unix.SYS_INIT_MODULE, unix.EPERM},
		{"finit_module", unix.SYS_FINIT_MODULE, unix.EPERM},
		{"delete_module", unix.SYS_DELETE_MODULE, unix.EPERM},
		{"reboot", unix.SYS_REBOOT, unix.EPERM},
		{"swapon", unix.SYS_SWAPON, unix.EPERM},
		{"swapoff", unix.SYS_SWAPOFF, unix.EPERM},
		{"acct", unix.SYS_ACCT, unix.EPERM},
		{"syslog", unix.SYS_SYSLOG, unix.EPERM},
		{"vhangup", unix.SYS_VHANGUP, unix.EPERM},
		{"sethostname", unix.SYS_SETHOSTNAME, unix.EPERM},
		{"setdomainname", unix.SYS_SETDOMAINNAME, unix.EPERM},
		{"settimeofday", unix.SYS_SETTIMEOFDAY, unix.EPERM},
		{"clock_settime", unix.SYS_CLOCK_SETTIME, unix.EPERM},
		{"clock_adjtime", unix.SYS_CLOCK_ADJTIME, unix.EPERM},
		{"adjtimex", unix.SYS_ADJTIMEX, unix.EPERM},
		{"lookup_dcookie", unix.SYS_LOOKUP_DCOOKIE, unix.EPERM},
		{"nfsservctl", unix.SYS_NFSSERVCTL, unix.ENOSYS},
	}
}
