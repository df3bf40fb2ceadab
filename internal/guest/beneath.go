package guest

import (
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// beneath is the open root of the workspace, below which paths are opened. The kernel
// resolves symbolic links in a path and refuses a link that leaves the root.
type beneath struct{ root int }

func (s *Server) beneath() (*beneath, error) {
	if s.cfg.Workspace == "" {
		return nil, noWorkspace()
	}
	fd, err := unix.Open(s.cfg.Workspace, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, pathError("open", "the workspace", err)
	}
	return &beneath{fd}, nil
}

func (b *beneath) close() { unix.Close(b.root) }

// open opens the raw path rel below the root with openat2; "" is the root. A path that
// leads out of the root is EXDEV.
func (b *beneath) open(rel string, flags int, mode uint32) (int, error) {
	if rel == "" {
		rel = "."
	}
	how := unix.OpenHow{
		Flags: uint64(flags | unix.O_CLOEXEC), Mode: uint64(mode),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS,
	}
	for {
		fd, err := unix.Openat2(b.root, rel, &how)
		// The kernel gives up when something is renamed meanwhile.
		if err != unix.EAGAIN && err != unix.EINTR {
			return fd, err
		}
	}
}

// parent opens the parent folder of the raw path rel, with O_PATH, and returns its
// descriptor and the path's last name.
func (b *beneath) parent(rel string) (fd int, name string, err error) {
	dir, name := path.Split(rel)
	fd, err = b.open(strings.TrimSuffix(dir, "/"), unix.O_PATH|unix.O_DIRECTORY, 0)
	return fd, name, err
}

// parsePath returns the raw path of an escaped one below the workspace; "" is the
// workspace. A path that is absolute, has . or .. parts, or an invalid name, is code
// invalid.
func parsePath(escaped string) (string, error) {
	raw, err := snapshot.UnescapePath(escaped)
	if err != nil {
		return "", err
	}
	if len(raw) == 0 {
		return "", nil
	}
	for _, name := range strings.Split(string(raw), "/") {
		switch {
		case name == "" || name == "." || name == "..":
			return "", choir.Invalid("path", "%q must be relative, without empty, . or .. parts", clip(escaped, 200))
		case len(name) > snapshot.MaxName:
			return "", choir.Invalid("path", "has a name of more than 255 bytes")
		case strings.IndexByte(name, 0) >= 0:
			return "", choir.Invalid("path", "has a NUL in it")
		}
	}
	return string(raw), nil
}

// openParent opens the parent folder of an escaped path and returns its descriptor, which
// the caller closes, and the path's last name. The workspace itself is code invalid.
func (s *Server) openParent(escaped string) (parent int, name string, err error) {
	rel, err := parsePath(escaped)
	if err != nil {
		return -1, "", err
	}
	if rel == "" {
		return -1, "", choir.Invalid("path", "is the workspace itself")
	}
	b, err := s.beneath()
	if err != nil {
		return -1, "", err
	}
	defer b.close()
	fd, name, err := b.parent(rel)
	return fd, name, pathError("open the folder of", escaped, err)
}

// stateAt returns the state of a name in the open folder dir, with escaped as its path;
// name "" means dir itself. Links are not followed; a socket or a device is code refused.
func stateAt(dir int, name, escaped string) (choir.FileState, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH); err != nil {
		return choir.FileState{}, pathError("stat", escaped, err)
	}
	s := choir.FileState{
		Path: escaped, Mode: st.Mode & 0o7777,
		MTime: st.Mtim.Sec*1000 + st.Mtim.Nsec/1e6,
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		s.Kind, s.Size = "file", st.Size
	case unix.S_IFDIR:
		s.Kind = "dir"
	case unix.S_IFLNK:
		buf := make([]byte, snapshot.MaxTarget+1)
		n, err := unix.Readlinkat(dir, name, buf)
		if err != nil {
			return s, pathError("read the link", escaped, err)
		}
		s.Kind, s.Target = "symlink", snapshot.EscapePath(buf[:n])
	case unix.S_IFIFO:
		s.Kind = "fifo"
	default:
		return s, &choir.Error{Op: "guest.stat", Code: choir.CodeRefused, Path: escaped, Msg: "is a socket or a device"}
	}
	return s, nil
}
