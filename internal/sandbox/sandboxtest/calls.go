package sandboxtest

import (
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/sandbox"

	"golang.org/x/sys/unix"
)

// call is a forbidden system call with arguments that would otherwise be valid.
type call struct {
	name string
	args []uintptr // number first
}

func forbiddenCalls() []call {
	const self = ^uintptr(0) // as a descriptor: none
	return []call{
		{"umount2", []uintptr{unix.SYS_UMOUNT2, 0, 0}},
		{"pivot_root", []uintptr{unix.SYS_PIVOT_ROOT, 0, 0}},
		{"fsopen", []uintptr{unix.SYS_FSOPEN, 0, 0}},
		{"open_tree", []uintptr{unix.SYS_OPEN_TREE, self, 0, 0}},
		{"move_mount", []uintptr{unix.SYS_MOVE_MOUNT, self, 0, self, 0, 0}},
		{"mount_setattr", []uintptr{unix.SYS_MOUNT_SETATTR, self, 0, 0, 0, 0}},
		{"bpf", []uintptr{unix.SYS_BPF, 0, 0, 0}},
		{"keyctl", []uintptr{unix.SYS_KEYCTL, 0, 0}},
		{"add_key", []uintptr{unix.SYS_ADD_KEY, 0, 0, 0, 0, 0}},
		{"request_key", []uintptr{unix.SYS_REQUEST_KEY, 0, 0, 0, 0}},
		{"perf_event_open", []uintptr{unix.SYS_PERF_EVENT_OPEN, 0, 0, self, self, 0}},
		{"userfaultfd", []uintptr{unix.SYS_USERFAULTFD, 1}},
		{"unshare a user namespace", []uintptr{unix.SYS_UNSHARE, unix.CLONE_NEWUSER}},
		{"unshare a network", []uintptr{unix.SYS_UNSHARE, unix.CLONE_NEWNET}},
		{"setns", []uintptr{unix.SYS_SETNS, 0, 0}},
		{"clone3", []uintptr{unix.SYS_CLONE3, 0, 0}},
		{"AF_PACKET", []uintptr{unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW, 0}},
		{"AF_VSOCK", []uintptr{unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM, 0}},
		{"AF_ALG", []uintptr{unix.SYS_SOCKET, unix.AF_ALG, unix.SOCK_SEQPACKET, 0}},
		{"raw IP", []uintptr{unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP}},
		{"netfilter netlink", []uintptr{unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER}},
		{"kexec_load", []uintptr{unix.SYS_KEXEC_LOAD, 0, 0, 0, 0}},
		{"kexec_file_load", []uintptr{unix.SYS_KEXEC_FILE_LOAD, self, self, 0, 0, 0}},
		{"statmount", []uintptr{unix.SYS_STATMOUNT, 0, 0, 0, 0}},
		{"listmount", []uintptr{unix.SYS_LISTMOUNT, 0, 0, 0, 0}},
		{"memfd_secret", []uintptr{unix.SYS_MEMFD_SECRET, 0}},
		{"seccomp user notification", []uintptr{unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, 0}},
		{"io_uring_setup", []uintptr{unix.SYS_IO_URING_SETUP, 1, 0}},
		{"init_module", []uintptr{unix.SYS_INIT_MODULE, 0, 0, 0}},
		{"reboot", []uintptr{unix.SYS_REBOOT, 0, 0, 0, 0}},
		{"swapon", []uintptr{unix.SYS_SWAPON, 0, 0}},
		{"acct", []uintptr{unix.SYS_ACCT, 0}},
		{"quotactl", []uintptr{unix.SYS_QUOTACTL, 0, 0, 0, 0}},
		{"open_by_handle_at", []uintptr{unix.SYS_OPEN_BY_HANDLE_AT, self, 0, 0}},
		{"name_to_handle_at", []uintptr{unix.SYS_NAME_TO_HANDLE_AT, self, 0, 0, 0, 0}},
		{"pidfd_getfd", []uintptr{unix.SYS_PIDFD_GETFD, self, 0, 0}},
		// Nobody needs these, and so no rule names them.
		{"vmsplice", []uintptr{unix.SYS_VMSPLICE, self, 0, 0, 0}},
		{"set_mempolicy", []uintptr{unix.SYS_SET_MEMPOLICY, self, 0, 0}},
		{"process_mrelease", []uintptr{unix.SYS_PROCESS_MRELEASE, self, 0}},
		{"lsm_list_modules", []uintptr{unix.SYS_LSM_LIST_MODULES, 0, 0, self}},
		{"a call that no kernel has yet", []uintptr{1000}},
		{"personality of another system", []uintptr{unix.SYS_PERSONALITY, 0x0400000}},
	}
}

// calls checks that each forbidden system call is denied. EFAULT, EINVAL and EBADF count
// as failures: they mean that the filter let the call through.
func (s suite) calls(t *testing.T) {
	b := s.create(t, choir.RoleAssociate, nil)
	why := append([]syscall.Errno{syscall.EAFNOSUPPORT, syscall.EPROTONOSUPPORT}, forbidden...)
	for _, c := range forbiddenCalls() {
		t.Run(c.name, func(t *testing.T) {
			args := []string{"syscall"}
			for _, a := range c.args {
				args = append(args, strconv.FormatInt(int64(a), 10))
			}
			b.refused(t, why, args...)
		})
	}
	t.Run("mount", func(t *testing.T) { b.refused(t, why, "mount") })
	t.Run("a process in a user namespace", func(t *testing.T) { b.refused(t, why, "user") })
	t.Run("TIOCSTI", func(t *testing.T) {
		out, err := b.client.Run(timeout(t), guest.ExecSpec{
			Argv: []string{sandbox.GuestInside + "/" + probeName, "type"}, TTY: &guest.Size{Rows: 24, Cols: 80},
		}, nil, 1<<16)
		if err != nil {
			t.Fatal(err)
		}
		if r := parseResult(t, out); syscall.Errno(r.Errno) != syscall.EPERM && syscall.Errno(r.Errno) != syscall.EIO {
			t.Errorf("it gave %+v", r)
		}
	})
}

// initIsClosed checks that a tool cannot inspect PID 1, whose memory has the sandbox's
// identity.
func (s suite) initIsClosed(t *testing.T) {
	b := s.create(t, choir.RoleAssociate, nil)
	for _, try := range [][]string{
		{"attach", "1"}, {"seize", "1"}, {"peek", "1"},
		{"read", "/proc/1/mem"}, {"read", "/proc/1/environ"}, {"read", "/proc/1/maps"}, {"read", "/proc/1/auxv"},
		{"read", "/proc/1/exe"}, {"read", "/proc/1/fd/3"}, {"list", "/proc/1/fd"}, {"list", "/proc/1/map_files"}, {"list", "/proc/1/root"},
	} {
		why := forbidden
		if try[1] == "/proc/1/map_files" { // a kernel of the sandbox's own may not have it
			why = append(why[:len(why):len(why)], invisible...)
		}
		t.Run(strings.Join(try, " "), func(t *testing.T) { b.refused(t, why, try...) })
	}
}

// doors checks that no socket leads out of the sandbox, and that init identifies callers
// correctly.
func (s suite) doors(t *testing.T) {
	b := s.create(t, choir.RoleAssociate, nil)
	t.Run("no socket leads out", func(t *testing.T) {
		out := b.run(t, "/bin/sh", "-c", "find / /tmp /home /workspace /dev -xdev -type s 2>/dev/null")
		if len(out.Stdout) > 0 {
			t.Errorf("there are the sockets %s", out.Stdout)
		}
		b.refused(t, invisible, "hello", "/run/"+sandbox.ControlSocket)
	})
	t.Run("no program takes its address", b.doorIsNotTaken)
	t.Run("a caller is who opened the stream", func(t *testing.T) { s.callersAreKnown(t, b) })
}

// doorIsNotTaken checks that no program gets what others send to the egress door: neither at all of
// its addresses nor at the one by which the programs of another task are known.
func (b inside) doorIsNotTaken(t *testing.T) {
	_, port, err := net.SplitHostPort(guest.ProxyListens)
	if err != nil {
		t.Fatal(err)
	}
	taken := []syscall.Errno{syscall.EADDRINUSE}
	reusePort := strconv.Itoa(unix.SO_REUSEPORT)
	for _, address := range []string{"127.9.9.9:", "127.0.0.1:", "0.0.0.0:", "[::ffff:127.9.9.9]:", "[::]:"} {
		b.refused(t, taken, "listen", address+port)
		b.refused(t, taken, "listen", address+port, reusePort)
	}
	if r := b.probe(t, "listen", "127.9.9.9:0"); r.Error != "" { // the control
		t.Error(r.Error)
	}
}
