package snapshot

import (
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setTime sets the modification time of an open path and leaves its time of
// access.
func setTime(fd int, t Stamp) error {
	times := [2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, t.timespec()}
	// futimens(3): utimensat without a path. The x/sys wrapper demands a path.
	_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(&times[0])), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// chmod sets the mode of a path opened with O_PATH, for which fchmod is refused.
func chmod(fd int, mode uint32) error {
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), mode)
}

// setMeta sets mode and time of a file, link or fifo. It reports false when the
// file has other names too, which would change with it.
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

// openAnyway opens a name in an open folder, also when the mode of one of the two
// keeps their owner out: the mode is widened for the moment of the opening and put
// back. EACCES says that the path is another user's.
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

// openWide opens a folder, and lets its owner in first when its mode does not.
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
