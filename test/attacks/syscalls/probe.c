// Makes system calls that a sandbox must refuse, and some that it must allow.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static char buf[65536];

#define TRY(kind, name, call) do { errno = 0; long r = (long)(call); printf("%s|%s|%s\n", kind, name, r < 0 ? strerror(errno) : "ALLOWED"); fflush(stdout); } while (0)
#define REFUSE(name, call) TRY("refuse", name, call)
#define ALLOW(name, call) TRY("allow", name, call)

int main(int argc, char **argv) {
	int role = argc > 1 ? atoi(argv[1]) : 1;
	ALLOW("getpid", getpid());
	ALLOW("socketpair", ({ int s[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, s); }));
	ALLOW("netlink route", socket(AF_NETLINK, SOCK_RAW, 0));
	ALLOW("own memory", open("/proc/self/mem", O_RDONLY));
	ALLOW("fifo", mkfifo("/tmp/attack.fifo", 0600));
	REFUSE("unshare user", syscall(SYS_unshare, 0x10000000));
	REFUSE("clone user", ({ long p = syscall(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0); if (!p) _exit(0); p; }));
	REFUSE("mount", syscall(SYS_mount, "none", "/tmp", "tmpfs", 0, 0));
	REFUSE("open_tree", syscall(SYS_open_tree, -100, "/", 0));
	REFUSE("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
	REFUSE("chroot", syscall(SYS_chroot, "/tmp"));
	REFUSE("pivot_root", syscall(SYS_pivot_root, "/", "/"));
	REFUSE("bpf", syscall(SYS_bpf, 0, buf, 64));
	REFUSE("perf_event_open", syscall(SYS_perf_event_open, buf, 0, -1, -1, 0));
	REFUSE("userfaultfd", syscall(SYS_userfaultfd, 0));
	REFUSE("io_uring_setup", syscall(SYS_io_uring_setup, 4, buf));
	REFUSE("keyctl", syscall(SYS_keyctl, 0, 0, 0, 0, 0));
	REFUSE("add_key", syscall(SYS_add_key, "user", "x", "y", 1, -3));
	REFUSE("process_vm_readv of init", syscall(SYS_process_vm_readv, 1, buf, 0, buf, 0, 0));
	REFUSE("ptrace attach to the role", ptrace(PTRACE_ATTACH, role, 0, 0));
	REFUSE("ptrace seize init", ptrace(0x4206, 1, 0, 0));
	REFUSE("kcmp", syscall(SYS_kcmp, 1, 1, 0, 0, 0));
	REFUSE("pidfd_getfd of the role", ({ int p = syscall(SYS_pidfd_open, role, 0); syscall(SYS_pidfd_getfd, p, 0, 0); }));
	REFUSE("memory of the role", open(({ sprintf(buf, "/proc/%d/mem", role); buf; }), O_RDONLY));
	REFUSE("environment of the role", open(({ sprintf(buf, "/proc/%d/environ", role); buf; }), O_RDONLY));
	REFUSE("memory of init", open("/proc/1/mem", O_RDWR));
	REFUSE("TIOCSTI", ioctl(0, 0x5412, "x"));
	REFUSE("TIOCSTI with high bits", syscall(SYS_ioctl, 0, 0x100005412UL, "x"));
	REFUSE("TIOCLINUX", ioctl(0, 0x541c, "x"));
	REFUSE("kexec_load", syscall(SYS_kexec_load, 0, 0, 0, 0));
	REFUSE("finit_module", syscall(SYS_finit_module, 0, "", 0));
	REFUSE("name_to_handle_at", syscall(SYS_name_to_handle_at, -100, "/", buf, buf, 0));
	REFUSE("open_by_handle_at", syscall(SYS_open_by_handle_at, -100, buf, 0));
	REFUSE("statmount", syscall(457, buf, buf, 4096, 0));
	REFUSE("listmount", syscall(458, buf, buf, 10, 0));
	REFUSE("memfd_secret", syscall(447, 0));
	REFUSE("seccomp listener", ({ struct sock_filter f = {0x06, 0, 0, 0x7fff0000}; struct sock_fprog p = {1, &f}; syscall(SYS_seccomp, 1, 8, &p); }));
	REFUSE("device node", mknod("/tmp/chr", S_IFCHR | 0666, (1 << 8) | 3));
	REFUSE("setuid 0", setuid(0));
	REFUSE("control socket", ({ int s = socket(AF_UNIX, SOCK_STREAM, 0); struct sockaddr_un a = {AF_UNIX, "/run/choir/control.sock"}; connect(s, (void *)&a, sizeof a); }));
	REFUSE("words from the bus", ({ int s = socket(AF_UNIX, SOCK_STREAM, 0); struct sockaddr_un a = {AF_UNIX, "/run/choir/bus.sock"};
		long n = connect(s, (void *)&a, sizeof a); if (n == 0) { n = read(s, buf, 100); if (n == 0) { errno = ECONNRESET; n = -1; } } n; }));
	return 0;
}
