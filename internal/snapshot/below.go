package snapshot

import (
	"bytes"
	"errors"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openBelow opens a file for reading by its raw path below the open folder root and
// returns its descriptor. It follows no symbolic link in any part of the path.
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

// maxNames is the limit on the names of one folder that are held in memory.
const maxNames = MaxEntries

// errCrowded is the error of readNames for a folder with more names than the limit.
var errCrowded = errors.New("more names than a snapshot holds")

// readNames returns all names in an open folder, unsorted, without "." and "..". More
// than most names are errCrowded.
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

// eachName calls do for each name in an open folder, in directory order, without "." and
// "..". kind is the DT_ type, DT_UNKNOWN if the file system does not give it. An error of
// do ends the loop and is returned.
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
