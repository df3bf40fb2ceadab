package snapshot

import (
	"bytes"
	"errors"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openBelow opens a file by its raw path below an open folder and follows no
// link on the way.
func openBelow(root int, path string) (int, error) {
	dir := root
	for {
		name, rest, more := strings.Cut(path, "/")
		if !more {
			fd, err := openFile(dir, name)
			closeUnless(dir, root)
			return fd, err
		}
		next, err := unix.Openat(dir, name, openDir, 0)
		closeUnless(dir, root)
		if err != nil {
			return -1, err
		}
		dir, path = next, rest
	}
}

func closeUnless(fd, root int) {
	if fd != root {
		unix.Close(fd)
	}
}

// maxNames bounds the names of one folder that are held in memory.
const maxNames = MaxEntries

// errCrowded says that a folder has more names than were asked for.
var errCrowded = errors.New("more names than a snapshot holds")

// readNames lists an open folder from its beginning; errCrowded when it has more
// than so many names.
func readNames(fd int, most int64) ([]string, error) {
	if _, err := unix.Seek(fd, 0, unix.SEEK_SET); err != nil {
		return nil, err
	}
	var names []string
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.Getdents(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return names, err
		}
		for rest := buf[:n]; len(rest) > 0; {
			d := (*unix.Dirent)(unsafe.Pointer(&rest[0])) // the kernel wrote it there
			raw := rest[unsafe.Offsetof(d.Name):d.Reclen]
			rest = rest[d.Reclen:]
			name := raw[:bytes.IndexByte(raw, 0)]
			if string(name) != "." && string(name) != ".." {
				names = append(names, string(name))
			}
		}
		if int64(len(names)) > most {
			return nil, errCrowded
		}
	}
}
