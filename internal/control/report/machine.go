package report

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Machine describes the isolation features of a kernel and its settings. It contains
// neither the host's name nor its users.
type Machine struct {
	System    string `json:"system"` // of os-release
	Release   string `json:"kernel"`
	Built     string `json:"kernel_version"`
	Machine   string `json:"machine"`
	CPUs      int    `json:"cpus"`
	MemoryMiB uint64 `json:"memory_mib"`
	Root      bool   `json:"root"`
	// Cgroups is v1, v2 or none. Controllers are those of the root of v2, or the mounts
	// of v1.
	Cgroups     string   `json:"cgroups"`
	Controllers []string `json:"controllers"`
	// Namespaces tells for each kind of namespace whether choir shares it with process
	// 1.
	Namespaces map[string]string `json:"namespaces"`
	Settings   map[string]string `json:"settings"`    // of the kernel, where they are
	Landlock   int               `json:"landlock"`    // version of its ABI; 0 for none
	Status     map[string]string `json:"status"`      // capabilities and filters of this process
	FileSystem string            `json:"file_system"` // of the data folder
}

// kernelSettings are the files whose content determines which isolation a sandbox can
// have.
var kernelSettings = []string{
	"/proc/sys/user/max_user_namespaces", "/proc/sys/user/max_mnt_namespaces", "/proc/sys/user/max_pid_namespaces", "/proc/sys/user/max_net_namespaces",
	"/proc/sys/kernel/unprivileged_userns_clone", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "/proc/sys/kernel/yama/ptrace_scope",
	"/proc/sys/kernel/unprivileged_bpf_disabled", "/proc/sys/kernel/io_uring_disabled", "/proc/sys/kernel/pid_max", "/proc/sys/vm/overcommit_memory",
	"/proc/sys/fs/inotify/max_user_watches", "/proc/sys/fs/protected_hardlinks", "/sys/kernel/security/lsm", "/sys/module/apparmor/parameters/enabled",
}

// plain matches a text that may be reported.
var plain = regexp.MustCompile(`^[A-Za-z0-9 ,.:;#()/_+~-]{1,160}$`)

// fact returns a text of the kernel without surrounding space, or withheld if it
// contains other than plain characters.
func fact(text string) string {
	if text = strings.TrimSpace(text); text == "" || plain.MatchString(text) {
		return text
	}
	return withheld
}

// LookAtMachine reads the features of this machine. data is the data folder. A value
// that cannot be read is empty.
func LookAtMachine(data string) Machine {
	m := Machine{
		System: system(), Machine: runtime.GOARCH, CPUs: runtime.NumCPU(), Root: os.Geteuid() == 0,
		Namespaces: namespaces(), Settings: map[string]string{}, Status: status(), Landlock: landlock(), FileSystem: fileSystem(data),
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.Release, m.Built = fact(unix.ByteSliceToString(name.Release[:])), fact(unix.ByteSliceToString(name.Version[:]))
		m.Machine = fact(unix.ByteSliceToString(name.Machine[:]))
	}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		m.MemoryMiB = uint64(info.Totalram) * uint64(info.Unit) >> 20
	}
	m.Cgroups, m.Controllers = cgroups()
	for _, path := range kernelSettings {
		if raw, err := os.ReadFile(path); err == nil {
			m.Settings[path] = fact(string(raw))
		}
	}
	return m
}

// system returns the name of the Linux distribution; "" if unknown.
func system() string {
	raw, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(raw)) {
		if name, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			return fact(strings.Trim(strings.TrimSpace(name), `"`))
		}
	}
	return ""
}

// namespaces returns for each kind of namespace whether this process shares it with
// process 1: "that of process 1", "another" or "unknown".
func namespaces() map[string]string {
	out := map[string]string{}
	kinds, err := os.ReadDir("/proc/self/ns")
	if err != nil {
		return out
	}
	for _, kind := range kinds {
		own, err := os.Readlink(filepath.Join("/proc/self/ns", kind.Name()))
		first, firstErr := os.Readlink(filepath.Join("/proc/1/ns", kind.Name()))
		switch {
		case err != nil || firstErr != nil:
			out[fact(kind.Name())] = "unknown"
		case own == first:
			out[fact(kind.Name())] = "that of process 1"
		default:
			out[fact(kind.Name())] = "another"
		}
	}
	return out
}

// cgroups returns the version of control groups, v1, v2 or none, and their controllers.
func cgroups() (version string, controllers []string) {
	var st unix.Statfs_t
	if unix.Statfs("/sys/fs/cgroup", &st) != nil {
		return "none", nil
	}
	if st.Type == unix.CGROUP2_SUPER_MAGIC {
		raw, err := os.ReadFile("/sys/fs/cgroup/cgroup.controllers")
		if err != nil {
			return "v2", nil
		}
		return "v2", strings.Fields(fact(string(raw)))
	}
	mounts, err := os.ReadDir("/sys/fs/cgroup")
	if err != nil {
		return "none", nil
	}
	for _, m := range mounts {
		controllers = append(controllers, fact(m.Name()))
	}
	return "v1", controllers
}

// status returns the capabilities and seccomp state of this process from /proc.
func status() map[string]string {
	out := map[string]string{}
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "NoNewPrivs", "Seccomp", "Seccomp_filters", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb":
			out[name] = fact(value)
		}
	}
	return out
}

// landlock returns the version of the kernel's Landlock ABI; 0 without Landlock.
func landlock() int {
	const askVersion = 1
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, askVersion)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// fileSystems are the names of common file systems by their magic number.
var fileSystems = map[int64]string{
	unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs", unix.TMPFS_MAGIC: "tmpfs",
	unix.OVERLAYFS_SUPER_MAGIC: "overlay", unix.NFS_SUPER_MAGIC: "nfs", unix.F2FS_SUPER_MAGIC: "f2fs", unix.FUSE_SUPER_MAGIC: "fuse", 0x2fc12fc1: "zfs",
}

// fileSystem returns the type of a folder's file system: "another" for an uncommon one,
// "" if it cannot be read.
func fileSystem(dir string) string {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return ""
	}
	if name := fileSystems[int64(st.Type)]; name != "" {
		return name
	}
	return "another"
}
