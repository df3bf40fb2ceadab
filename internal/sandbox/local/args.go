package local

import (
	"os"
	"path/filepath"
	"strconv"

	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"
)

// fdListener, fdSeccomp, fdInfo and fdGate are the descriptor numbers of the files passed to
// bubblewrap, the last one by ordinary users only. The listener comes first because choir-init expects it as 3.
const (
	fdListener = 3 + iota
	fdSeccomp
	fdInfo
	fdGate
)

// tmpBytes and the following constants are the sizes of the folders in memory. Their
// pages also count as memory of the sandbox.
const (
	tmpBytes  = 2 << 30
	homeBytes = 1 << 30
	// workspaceBytes is for a workspace that is copied.
	workspaceBytes = 2 << 30
)

// hiddenInProc are files of /proc that reveal something of the host (its boot parameters,
// hardware, modules, and users with keys) and are empty inside.
var hiddenInProc = []string{
	"/proc/cmdline", "/proc/interrupts", "/proc/diskstats", "/proc/partitions", "/proc/modules", "/proc/key-users",
	"/proc/keys",
}

// commonArgs returns the arguments of bubblewrap that do not depend on a spec. The root
// folder comes first, because the others are mounted over it.
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
			args = append(args, "--ro-bind", filepath.Join(root, host.EmptyFile), name)
		}
	}
	for _, name := range host.SystemFolders {
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

// folderArgs returns the arguments of bubblewrap for the spec's folders. A copied
// workspace is a folder in memory with the mode of a bound one.
func folderArgs(spec sandbox.Spec) []string {
	args := []string{"--ro-bind", spec.Guest, sandbox.GuestInside}
	args = append(args, mountArgs(spec.Mounts)...)
	workspace, has := spec.Workspace()
	switch {
	case !has:
		return append(args, "--chdir", "/home/choir")
	case workspace.Transport == sandbox.TransportCopy:
		args = append(args, "--perms", "0700", "--size", strconv.Itoa(workspaceBytes), "--tmpfs", sandbox.WorkspaceInside)
	default:
		args = append(args, "--bind", workspace.Folder, sandbox.WorkspaceInside)
	}
	return append(args, "--chdir", sandbox.WorkspaceInside)
}

// mountArgs returns the arguments of bubblewrap for the mounts other than the workspace.
// Their parent folder is a read-only one in memory, because the root folder has no place
// for them.
func mountArgs(mounts []sandbox.Mount) (args []string) {
	for _, m := range mounts {
		if m.Kind == sandbox.MountWorkspace {
			continue
		}
		if args == nil {
			args = []string{"--perms", "0755", "--size", "65536", "--tmpfs", sandbox.MountsInside}
		}
		how := "--bind"
		if m.ReadOnly {
			how = "--ro-bind"
		}
		args = append(args, how, m.Folder, m.Target)
	}
	if args != nil {
		args = append(args, "--remount-ro", sandbox.MountsInside)
	}
	return args
}
