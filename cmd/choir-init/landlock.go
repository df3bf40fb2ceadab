package main

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What Landlock lets happen below a folder.
const (
	landlockFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	landlockAll  = landlockFile | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	// landlockHandled is forbidden wherever no rule allows it; devices nowhere.
	landlockHandled = landlockAll | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// rulesetAttr and pathBeneathAttr are the kernel's structs of the same names, in
// the form of the first version, which every kernel knows. The second is packed.
type (
	rulesetAttr     struct{ access uint64 }
	pathBeneathAttr struct {
		access uint64
		parent int32
	}
)

// landlock is the second wall behind the mounts: this process and everything
// below it may write in the workspace and in the folders in memory, and nowhere
// else, whatever is mounted there. It needs Landlock's second version (Linux
// 5.19), because the first forbids every rename between folders.
func landlock(workspace string) error {
	attr := rulesetAttr{landlockHandled}
	fd, _, errno := syscall.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("landlock: make the rules: %w", errno)
	}
	defer syscall.Close(int(fd))
	for _, rule := range []struct {
		path   string
		access uint64
	}{{workspace, landlockAll}, {"/tmp", landlockAll}, {"/home", landlockAll}, {"/dev/shm", landlockAll}, {"/dev", landlockFile}} {
		if err := allowBelow(int(fd), rule.path, rule.access); err != nil {
			return fmt.Errorf("landlock: allow %s: %w", rule.path, err)
		}
	}
	// Every thread, because Go may start a child from any of them.
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: put the rules in force: %w", errno)
	}
	return nil
}

// allowBelow adds a rule; a folder that this sandbox does not have needs none.
func allowBelow(rules int, path string, access uint64) error {
	if path == "" {
		return nil
	}
	dir, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	rule := pathBeneathAttr{access, int32(dir)}
	_, _, errno := syscall.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
