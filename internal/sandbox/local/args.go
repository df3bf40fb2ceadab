package local

import (
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"choiros/internal/sandbox"
)

// Numbers that the files passed to bubblewrap have there. The listener comes
// first because choir-init expects it as 3.
const (
	fdListener = 3 + iota
	fdSeccomp
	fdInfo
)

// Sizes of the folders in memory; their pages also count as the sandbox's
// memory.
const (
	tmpBytes  = 2 << 30
	homeBytes = 1 << 30
)

// hiddenInProc are files of /proc that tell of the host and are empty inside: how
// its kernel was started, its hardware, its modules, and the users with keys.
var hiddenInProc = []string{
	"/proc/cmdline", "/proc/interrupts", "/proc/diskstats", "/proc/partitions", "/proc/modules", "/proc/key-users",
}

// emptyFile is a file without content in a sandbox's root folder.
const emptyFile = "etc/fstab"

// commonArgs is the part of bubblewrap's command line that no spec changes. The
// root folder comes first: the others are mounted over it.
func commonArgs(root string) []string {
	args := []string{
		"--unshare-all", "--unshare-user", "--disable-userns",
		"--as-pid-1", "--new-session", "--clearenv",
		"--hostname", "choir",
		"--uid", strconv.Itoa(sandbox.InsideUID), "--gid", strconv.Itoa(sandbox.InsideGID),
		"--cap-drop", "ALL",
		"--ro-bind", root, "/",
		"--ro-bind", "/usr", "/usr",
		"--proc", "/proc", "--dev", "/dev",
	}
	for _, name := range hiddenInProc {
		if _, err := os.Stat(name); err == nil {
			args = append(args, "--ro-bind", filepath.Join(root, emptyFile), name)
		}
	}
	for _, name := range systemFolders {
		if info, err := os.Lstat("/" + name); err == nil && info.IsDir() {
			args = append(args, "--ro-bind", "/"+name, "/"+name)
		}
	}
	for _, dir := range []struct {
		path, mode string
		bytes      int
	}{
		{"/tmp", "1777", tmpBytes},
		{"/home/choir", "0700", homeBytes},
		{"/dev/shm", "1777", tmpBytes},
	} {
		args = append(args, "--perms", dir.mode, "--size", strconv.Itoa(dir.bytes), "--tmpfs", dir.path)
	}
	return append(args, "--remount-ro", "/dev")
}

// folderArgs is the part that follows from the spec's folders.
func folderArgs(spec sandbox.Spec) []string {
	args := []string{"--ro-bind", spec.Guest, sandbox.GuestInside}
	if spec.Workspace == "" {
		return append(args, "--chdir", "/home/choir")
	}
	return append(args, "--bind", spec.Workspace, sandbox.WorkspaceInside, "--chdir", sandbox.WorkspaceInside)
}

// sorted walks a map in the order of its keys.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
