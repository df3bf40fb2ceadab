package guest

import (
	"context"
	"io"
	"os"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// temps is the number of temporary names given out by this process.
var temps atomic.Int64

// tempName returns a name that is new in this process. If a crash left such a file,
// creating it fails with EEXIST and the caller takes the next name.
func tempName() string {
	return ".choir-write-" + strconv.FormatInt(temps.Add(1), 10)
}

// writeFile handles the operation write: it writes the content to a temporary file and
// renames it, so that the file is replaced atomically.
func (s *Server) writeFile(_ context.Context, w *wire, r *request) (any, error) {
	dir, name, err := s.target(r.Path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	mode, err := modeFor(dir, name, r)
	if err != nil {
		return nil, err
	}
	temp := tempName()
	err = receiveFile(dir, temp, mode, &streamReader{w: w})
	for err == unix.EEXIST {
		temp = tempName()
		err = receiveFile(dir, temp, mode, &streamReader{w: w})
	}
	if err != nil {
		unix.Unlinkat(dir, temp, 0) // it may not be there; the first error counts
		return nil, pathError("write", r.Path, err)
	}
	fault.Point("guest.file.rename")
	if err := unix.Renameat(dir, temp, dir, name); err != nil {
		unix.Unlinkat(dir, temp, 0)
		return nil, pathError("write", r.Path, err)
	}
	state, err := stateAt(dir, name, r.Path)
	return &state, err
}

// target opens the parent folder of the file to write and returns its descriptor and the
// file's name. A symbolic link is code refused.
func (s *Server) target(escaped string) (dir int, name string, err error) {
	if dir, name, err = s.openParent(escaped); err != nil {
		return dir, name, err
	}
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil || st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return dir, name, nil
	}
	unix.Close(dir)
	return -1, "", &choir.Error{Op: "guest.write", Code: choir.CodeRefused, Path: escaped, Msg: "is a link; write to where it points"}
}

// modeFor returns the mode of the file to write: the requested one, else that of the
// existing file, else 0644. A path that is no file is code conflict.
func modeFor(dir int, name string, r *request) (uint32, error) {
	var st unix.Stat_t
	err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case err == unix.ENOENT && r.Mode == 0:
		return 0o644, nil
	case err != nil && err != unix.ENOENT:
		return 0, pathError("stat", r.Path, err)
	case err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG:
		return 0, &choir.Error{Op: "guest.write", Code: choir.CodeConflict, Path: r.Path, Msg: "something that is no file is there"}
	case r.Mode == 0:
		return st.Mode & 0o7777, nil
	}
	return r.Mode, nil
}

func receiveFile(dir int, name string, mode uint32, content io.Reader) error {
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if _, err := io.Copy(f, content); err != nil {
		return err
	}
	return unix.Fchmod(fd, mode)
}
