// Package inherited stops file descriptors that a process found open when it was
// started from going on to the programs it starts. Go opens every file
// close-on-exec, so a descriptor without that mark came through an exec.
package inherited

import (
	"errors"
	"math"
	"os"
	"strconv"

	"choiros/internal/choir"

	"golang.org/x/sys/unix"
)

// Standard is the last descriptor that every program has: standard error.
const Standard = 2

// KeepFromChildren marks every descriptor beyond the standard three
// close-on-exec. They stay open, so that a command line may name one, as
// --config <(...) does in a shell. Call it first in main.
func KeepFromChildren() error {
	err := unix.CloseRange(Standard+1, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) { // Linux before 5.11
		err = each(Standard, func(fd int) error {
			_, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC)
			return err
		})
	}
	return choir.Wrap("start", choir.CodeUnavailable, err, "keep open files from the programs that are started")
}

// Close closes every inherited descriptor above last, which is the last that the
// starter hands over on purpose. Descriptors that this process opened itself stay. Call
// it first in main.
func Close(last int) error {
	return choir.Wrap("start", choir.CodeUnavailable, each(last, unix.Close), "close open files of the starter")
}

// each calls do with every descriptor above last that is not marked
// close-on-exec.
func each(last int, do func(fd int) error) error {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, e := range open {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= last {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue // the listing's own, closed by now, or another of this process
		}
		if err := do(fd); err != nil {
			return err
		}
	}
	return nil
}
