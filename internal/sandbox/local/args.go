package local

import (
	"iter"
	"maps"
	"os"
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
	runBytes  = 16 << 20
)

// commonArgs is the part of bubblewrap's command line that no spec changes.
func commonArgs(etc string) []string {
	args := []string{
		"--unshare-all", "--unshare-user", "--disable-userns",
		"--as-pid-1", "--new-session", "--clearenv",
		"--hostname", "choir",
		"--uid", strconv.Itoa(sandbox.InsideUID), "--gid", strconv.Itoa(sandbox.InsideGID),
		"--cap-drop", "ALL",
		"--ro-bind", "/usr", "/usr",
		"--ro-bind", etc, "/etc",
		"--proc", "/proc", "--dev", "/dev",
	}
	args = append(args, systemLinks()...)
	for _, dir := range []struct {
		path, mode string
		bytes      int
	}{
		{"/tmp", "1777", tmpBytes},
		{"/var/tmp", "1777", tmpBytes},
		{"/run", "0755", runBytes},
		{"/dev/shm", "1777", tmpBytes},
		{"/home/choir", "0700", homeBytes},
	} {
		args = append(args, "--perms", dir.mode, "--size", strconv.Itoa(dir.bytes), "--tmpfs", dir.path)
	}
	return append(args, "--remount-ro", "/dev")
}

// systemLinks makes /bin and its like what they are on the host: links into
// /usr, or folders of their own.
func systemLinks() []string {
	var args []string
	for _, path := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		if to, err := os.Readlink(path); err == nil {
			args = append(args, "--symlink", to, path)
		} else if isDir(path) {
			args = append(args, "--ro-bind", path, path)
		}
	}
	return args
}

// specArgs is the part that follows from the spec, up to the program.
func specArgs(spec sandbox.Spec) []string {
	args := []string{
		"--ro-bind", spec.Doors, sandbox.DoorsInside,
		"--ro-bind", spec.Guest, sandbox.GuestInside,
	}
	cwd := "/home/choir"
	if spec.Workspace != "" {
		cwd = sandbox.WorkspaceInside
		args = append(args, "--bind", spec.Workspace, cwd)
	}
	return append(args,
		"--remount-ro", "/",
		"--chdir", cwd,
		"--seccomp", strconv.Itoa(fdSeccomp),
		"--info-fd", strconv.Itoa(fdInfo),
		"--")
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
