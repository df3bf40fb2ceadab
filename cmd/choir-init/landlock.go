package main

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock access rights below a folder: writing to existing files, and all changes.
const (
	landlockFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	landlockAll  = landlockFile | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	// landlockHandled are the rights denied wherever no rule grants them. No rule grants making devices.
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

// landlock restricts this process and its children to writing below the given folders and the
// folders in memory, in addition to the mounts. It needs Landlock's second version (Linux 5.19),
// because the first forbids every rename between folders.
func landlock(writable []string) error {
	attr := rulesetAttr{landlockHandled}
	fd, _, errno := syscall.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("landlock: make the rules: %w", errno)
	}
	defer syscall.Close(int(fd))
	for _, path := range append(writable, "/tmp", "/home", "/dev/shm") {
		if err := allowBelow(int(fd), path, landlockAll); err != nil {
			return fmt.Errorf("landlock: allow %s: %w", path, err)
		}
	}
	if err := allowBelow(int(fd), "/dev", landlockFile); err != nil {
		return fmt.Errorf("landlock: allow /dev: %w", err)
	}
	// Every thread, because Go may start a child from any of them.
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: put the rules in force: %w", errno)
	}
	return nil
}

// allowBelow adds a rule that grants access below a folder; it ignores a missing folder.
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
