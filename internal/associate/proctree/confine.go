package proctree

import (
	"errors"
	"io/fs"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
)

// The versions of Landlock (landlock(7)) from which on the kernel keeps a task's
// commands apart.
const (
	// filesFrom is the version that also controls truncation. No version controls modes,
	// times and extended attributes.
	filesFrom = sandbox.TaskLandlock
	// signalsFrom is the version that forbids signals to processes outside the tree (Linux
	// 6.12).
	signalsFrom = 6
)

// Landlock access rights below a folder that a tree may write to.
const (
	writeFiles = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	writeAll   = writeFiles | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	writeHandled = writeAll | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// devices are the device files that a tree with folders may write to as well. Terminals
// are among them: a program that makes a terminal opens it by its name in /dev/pts, which
// no rule can tell from the names of others.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"}

// rulesetAttr and pathBeneathAttr are the kernel's structs of the same names, the
// first since the sixth version of Landlock. The second is packed.
type (
	rulesetAttr     struct{ files, net, scoped uint64 }
	pathBeneathAttr struct {
		access uint64
		parent int32
	}
)

// Confines reports whether the kernel can prevent the commands of a tree from writing
// outside of the tree's folders.
func Confines() bool { return landlockVersion() >= filesFrom }

// landlockVersion returns the kernel's Landlock version, 0 without Landlock.
func landlockVersion() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// confine restricts the calling thread and its child processes by Landlock, as far as
// the kernel supports it. They may signal and trace only their own descendants. If
// writable is not empty, they may write only below these folders and to single devices, and
// connect only to their own abstract sockets. The error means that the kernel supports a
// restriction and refused to apply it.
func confine(writable []string) error {
	version := landlockVersion()
	attr := rulesetAttr{files: unix.LANDLOCK_ACCESS_FS_REFER}
	allowed := map[string]uint64{"/": unix.LANDLOCK_ACCESS_FS_REFER}
	walled := len(writable) > 0 && version >= filesFrom
	if walled {
		attr.files, allowed = writeHandled, map[string]uint64{}
		for _, device := range devices {
			allowed[device] = writeFiles
		}
		for _, folder := range writable {
			allowed[folder] = writeAll
		}
	}
	if version >= signalsFrom {
		attr.scoped = unix.LANDLOCK_SCOPE_SIGNAL
		if walled {
			attr.scoped |= unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		}
	}
	if attr.scoped == 0 && !walled {
		return nil
	}
	if err := restrict(attr, allowed); err != nil {
		return choir.Wrap("proctree.confine", choir.CodeUnavailable, err, "keep the task's commands in their folders")
	}
	return nil
}

// restrict applies a Landlock ruleset to the calling thread; allowed has the access rights
// below each folder.
func restrict(attr rulesetAttr, allowed map[string]uint64) error {
	size := unsafe.Sizeof(attr)
	if attr.scoped == 0 {
		size = unsafe.Sizeof(attr.files) // all that older versions know
	}
	fd, _, errno := syscall.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return errno
	}
	defer syscall.Close(int(fd))
	for path, access := range allowed {
		if err := allowBelow(int(fd), path, access); err != nil {
			return &fs.PathError{Op: "landlock", Path: path, Err: err}
		}
	}
	// Landlock asks for it; in a sandbox it is set already.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := syscall.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// allowBelow adds a rule that permits access to a file, or below a folder; it ignores a
// missing path.
func allowBelow(rules int, path string, access uint64) error {
	at, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(at)
	rule := pathBeneathAttr{access, int32(at)}
	_, _, errno := syscall.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
