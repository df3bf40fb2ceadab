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
		next, err := openAnyway(dir, name, openDir)
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
	var names []string
	err := eachName(fd, func(name string, _ uint8) error {
		if int64(len(names)) == most {
			return errCrowded
		}
		names = append(names, name)
		return nil
	})
	if err == errCrowded {
		return nil, err
	}
	return names, err
}

// eachName gives the names in an open folder to a function, in the order in which
// they lie there, with what they are (DT_UNKNOWN where the file system does not say).
func eachName(fd int, do func(name string, kind uint8) error) error {
	if _, err := unix.Seek(fd, 0, unix.SEEK_SET); err != nil {
		return err
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.Getdents(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return err
		}
		for rest := buf[:n]; len(rest) > 0; {
			d := (*unix.Dirent)(unsafe.Pointer(&rest[0])) // the kernel wrote it there
			raw, kind := rest[unsafe.Offsetof(d.Name):d.Reclen], d.Type
			rest = rest[d.Reclen:]
			name := raw[:bytes.IndexByte(raw, 0)]
			if string(name) == "." || string(name) == ".." {
				continue
			}
			if err := do(string(name), kind); err != nil {
				return err
			}
		}
	}
}
