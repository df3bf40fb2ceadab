package bench

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
	"zombiezen.com/go/sqlite"
)

// Host is the machine a row was measured on.
type Host struct {
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	Kernel     string `json:"kernel"`
	Cores      int    `json:"cores"`
	FileSystem string `json:"file_system"` // of the scratch folder
	Load       string `json:"load"`        // over the last minute when the row was finished
}

// Versions are of what was measured.
type Versions struct {
	Choir      string `json:"choir"`
	Go         string `json:"go"`
	SQLite     string `json:"sqlite"`
	Bubblewrap string `json:"bubblewrap"`
	Git        string `json:"git"`
}

func findVersions(choir string) Versions {
	return Versions{
		Choir: choir, Go: runtime.Version(), SQLite: sqlite.Version,
		Bubblewrap: lastWord("bwrap", "--version"), Git: lastWord("git", "--version"),
	}
}

// lastWord of what a program says; "absent" when it cannot be run.
func lastWord(argv ...string) string {
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	words := bytes.Fields(out)
	if err != nil || len(words) == 0 {
		return "absent"
	}
	return string(words[len(words)-1])
}

func (l *lab) host() Host {
	h := Host{OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), FileSystem: l.fileSystem()}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		h.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	if raw, err := os.ReadFile("/proc/loadavg"); err == nil {
		h.Load, _, _ = strings.Cut(string(raw), " ")
	}
	return h
}

// Magic numbers of statfs(2).
var fileSystems = map[int64]string{
	unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs",
	unix.TMPFS_MAGIC: "tmpfs", unix.RAMFS_MAGIC: "ramfs", unix.OVERLAYFS_SUPER_MAGIC: "overlayfs", 0x2fc12fc1: "zfs",
}

// fileSystem is that of the scratch folder.
func (l *lab) fileSystem() string {
	var st unix.Statfs_t
	if unix.Statfs(l.dir, &st) != nil {
		return "unknown"
	}
	if name, ok := fileSystems[int64(st.Type)]; ok {
		return name
	}
	return "other"
}

// onDisk is false where a sync reaches nothing that outlives a power cut.
func (l *lab) onDisk() bool {
	name := l.fileSystem()
	return name != "tmpfs" && name != "ramfs"
}
