package host

import (
	"os"

	"choiros/internal/choir"

	"golang.org/x/sys/unix"
)

// MemoryFile returns a file in memory with the given content and size. Its size cannot
// change.
func MemoryFile(name string, content []byte, size int64) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, choir.Wrap("host.memory", choir.CodeInternal, err, "make a file in memory")
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err = f.WriteAt(content, 0); err == nil {
		err = f.Truncate(size)
	}
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_GROW|unix.F_SEAL_SHRINK)
	}
	if err != nil {
		f.Close()
		return nil, choir.Wrap("host.memory", choir.CodeInternal, err, "fill a file in memory")
	}
	return f, nil
}
