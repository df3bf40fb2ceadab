package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"choiros/internal/sandbox"

	"golang.org/x/sys/unix"
)

// limitFiles limits the number of files in each folder in memory of the sandbox with this first
// process, which bubblewrap cannot. It needs root of the host; in sandboxes of an ordinary user their
// memory alone limits them.
func limitFiles(pid int, spec sandbox.Spec) error {
	most := strconv.FormatInt(spec.Limits.FilesInMemory(), 10)
	folders := []string{"/tmp", "/home/choir", "/dev/shm"}
	if workspace, has := spec.Workspace(); has && workspace.Transport == sandbox.TransportCopy {
		folders = append(folders, sandbox.WorkspaceInside)
	}
	for _, folder := range folders {
		if err := reconfigure(filepath.Join("/proc", strconv.Itoa(pid), "root", folder), "nr_inodes", most); err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	return nil
}

// reconfigure changes an option of the file system that is mounted at a path.
func reconfigure(path, option, value string) error {
	fs, err := unix.Fspick(unix.AT_FDCWD, path, unix.FSPICK_CLOEXEC|unix.FSPICK_SYMLINK_NOFOLLOW)
	if err != nil {
		return os.NewSyscallError("fspick", err)
	}
	defer unix.Close(fs)
	if err := unix.FsconfigSetString(fs, option, value); err != nil {
		return os.NewSyscallError("fsconfig", err)
	}
	return os.NewSyscallError("fsconfig", unix.FsconfigReconfigure(fs))
}
