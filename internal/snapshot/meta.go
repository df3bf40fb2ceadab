package snapshot

import (
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setTime sets the modification time of an open file or folder. The access time is
// unchanged.
func setTime(fd int, t Stamp) error {
	times := [2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, t.timespec()}
	// futimens(3): utimensat without a path. The x/sys wrapper demands a path.
	_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(&times[0])), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// chmod sets the mode of a path opened with O_PATH, on which fchmod does not work.
func chmod(fd int, mode uint32) error {
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), mode)
}

// setMeta sets the mode and time of the file, link or fifo e.Name in the open folder dir.
// It returns false without a change if the file has further hard links, which would
// change too, or is now of another kind.
func setMeta(dir int, e *Entry) (bool, error) {
	fd, err := unix.Openat(dir, e.Name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false, err
	}
	if st.Nlink > 1 {
		return false, nil
	}
	if kindOf(st.Mode) != e.Kind {
		return false, nil // replaced just now; written anew
	}
	if e.Kind != Symlink && st.Mode&maxMode != e.Mode {
		if err := chmod(fd, e.Mode); err != nil {
			return false, err
		}
	}
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, e.MTime.timespec()}
	return true, unix.UtimesNanoAt(dir, e.Name, times, unix.AT_SYMLINK_NOFOLLOW)
}

// openAnyway opens a name in an open folder, even if the mode of the folder or of the
// path denies access to their owner: it adds the permission for the call and then
// restores the mode. EACCES means that another user owns the path.
func openAnyway(dir int, name string, flags int) (int, error) {
	fd, err := unix.Openat(dir, name, flags, 0)
	if err != unix.EACCES {
		return fd, err
	}
	var st unix.Stat_t
	if unix.Fstat(dir, &st) == nil && st.Mode&0o100 == 0 {
		if unix.Fchmod(dir, st.Mode&maxMode|0o100) != nil {
			return -1, unix.EACCES
		}
		defer unix.Fchmod(dir, st.Mode&maxMode)
	}
	path, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(path)
	if err := unix.Fstat(path, &st); err != nil {
		return -1, err
	}
	if kind := kindOf(st.Mode); st.Mode&0o400 == 0 && (kind == File || kind == Dir) {
		if chmod(path, st.Mode&maxMode|0o400) != nil {
			return -1, unix.EACCES
		}
		defer chmod(path, st.Mode&maxMode)
	}
	return unix.Openat(dir, name, flags, 0)
}

// openWide opens the folder name in dir and gives its owner all permissions, permanently,
// if the mode denies them.
func openWide(dir int, name string) (int, error) {
	fd, err := unix.Openat(dir, name, openDir, 0)
	if err == nil {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && st.Mode&0o700 != 0o700 {
			err = unix.Fchmod(fd, st.Mode&maxMode|0o700)
		}
		if err != nil {
			unix.Close(fd)
			return -1, err
		}
		return fd, nil
	}
	if err != unix.EACCES {
		return -1, err
	}
	path, err := unix.Openat(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(path)
	if err := chmod(path, 0o700); err != nil {
		return -1, err
	}
	return unix.Openat(dir, name, openDir, 0)
}
