package guest

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/snapshot"
)

// unpackTemp is the temporary name of the folder into which an archive is extracted.
const unpackTemp = ".choir-unpack"

// unpack handles the operation unpack: it extracts a tar stream into a temporary folder
// beside the destination and renames it at the end.
func (s *Server) unpack(ctx context.Context, w *wire, r *request) (any, error) {
	dir, name, err := s.openParent(r.Path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		return nil, &choir.Error{Op: "guest.unpack", Code: choir.CodeConflict, Path: r.Path, Msg: "is there already"}
	}
	_, giveBack, err := s.takeTree(ctx, "")
	if err != nil {
		return nil, err
	}
	defer giveBack()
	temp := unpackTemp
	// Whoever has the tree alone may take away what a crash left behind.
	if err := removeAll(ctx, dir, temp, nil); err != nil && err != unix.ENOENT {
		return nil, pathError("unpack", r.Path, err)
	}
	if err := unix.Mkdirat(dir, temp, 0o755); err != nil {
		return nil, pathError("unpack", r.Path, err)
	}
	u := &unpacker{ctx: ctx, modes: map[string]*tar.Header{}}
	err = u.into(dir, temp, &streamReader{w: w})
	if err == nil {
		fault.Point("guest.unpack.rename")
		err = snapshot.RenameNew(dir, temp, dir, name)
	}
	if err != nil {
		removeAll(context.WithoutCancel(ctx), dir, temp, nil) // the first error counts; the next unpack tries again
		return nil, pathError("unpack", r.Path, err)
	}
	return &done{Files: u.files, Bytes: u.bytes}, nil
}

// unpacker is the state of one unpack. It opens everything beneath the new folder without
// following links, so that no entry can lead another one out of it.
type unpacker struct {
	ctx          context.Context
	root         int
	modes        map[string]*tar.Header // folders, which get mode and time last
	files, bytes int64
}

func (u *unpacker) into(dir int, temp string, stream io.Reader) (err error) {
	u.root, err = unix.Openat(dir, temp, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(u.root)
	r := tar.NewReader(stream)
	for {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return tarError(err)
		}
		if err := u.entry(h, r); err != nil {
			return pathError("unpack", clip(h.Name, 400), err)
		}
	}
	// What pads the end of the archive belongs to it.
	if _, err := io.Copy(io.Discard, stream); err != nil {
		return err
	}
	return u.setFolders()
}

// tarError converts the error of an unreadable archive to code invalid.
func tarError(err error) error {
	var e *choir.Error
	if errors.As(err, &e) {
		return err
	}
	return &choir.Error{Op: "guest.unpack", Code: choir.CodeInvalid, Path: "tar", Msg: "the archive cannot be read", Err: err}
}

func refuse(format string, args ...any) error {
	return choir.E("guest.unpack", choir.CodeRefused, format, args...)
}

// tarPath returns an entry's name as a relative path below the new folder; "" is the
// folder itself. A name that leads out of the folder is code refused.
func tarPath(name string) (string, error) {
	clean := strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	if clean == "." || clean == "" {
		return "", nil
	}
	for _, part := range strings.Split(clean, "/") {
		if part == "" || part == "." || part == ".." || strings.IndexByte(part, 0) >= 0 {
			return "", refuse("%q is no path below the folder", clip(name, 200))
		}
	}
	return clean, nil
}

func (u *unpacker) entry(h *tar.Header, content io.Reader) error {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	path, err := tarPath(h.Name)
	if err != nil {
		return err
	}
	if path == "" || h.Typeflag == tar.TypeDir {
		if h.Typeflag != tar.TypeDir {
			return refuse("the folder itself cannot be a file")
		}
		return u.folder(path, h)
	}
	dir, name, err := u.parent(path)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	// A later entry of the same name replaces the one before, as in tar.
	if err := unix.Unlinkat(dir, name, 0); err != nil && err != unix.ENOENT {
		return err
	}
	if !slices.Contains(strings.Split(path, "/"), ".git") {
		u.files++
	}
	switch h.Typeflag {
	case tar.TypeReg:
		return u.file(dir, name, h, content)
	case tar.TypeLink:
		return u.copyOf(dir, name, h)
	case tar.TypeSymlink:
		if err := unix.Symlinkat(h.Linkname, dir, name); err != nil {
			return err
		}
	case tar.TypeFifo:
		if err := unix.Mknodat(dir, name, unix.S_IFIFO|uint32(h.Mode&0o777), 0); err != nil {
			return err
		}
	default:
		return refuse("%q is neither file, folder, link nor fifo", clip(h.Name, 200))
	}
	return setTimeAt(dir, name, h.ModTime)
}

func (u *unpacker) file(dir int, name string, h *tar.Header, content io.Reader) error {
	counted := &counter{r: content}
	err := receiveFile(dir, name, uint32(h.Mode&0o7777), counted)
	u.bytes += counted.n
	if err != nil {
		return tarOrDisk(err)
	}
	return setTimeAt(dir, name, h.ModTime)
}

// tarOrDisk returns a disk error as it is, and any other as that of an unreadable
// archive.
func tarOrDisk(err error) error {
	if codeOf(err) != choir.CodeInternal {
		return err
	}
	return tarError(err)
}

// copyOf creates the file for a hard link entry as a copy of the file it links to.
func (u *unpacker) copyOf(dir int, name string, h *tar.Header) error {
	from, err := tarPath(h.Linkname)
	if err != nil {
		return err
	}
	fd, err := u.beneath(from, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return err
	}
	source := os.NewFile(uintptr(fd), "")
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return refuse("%q is a hard link to something that is no file", clip(h.Name, 200))
	}
	return u.file(dir, name, h, source)
}

// beneath opens a path below the new folder without following any link.
func (u *unpacker) beneath(path string, flags int) (int, error) {
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	return unix.Openat2(u.root, path, &how)
}

// parent opens the parent folder of a path, creating folders that the archive left out,
// and returns its descriptor and the path's last name.
func (u *unpacker) parent(path string) (int, string, error) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		fd, err := u.beneath(".", unix.O_RDONLY|unix.O_DIRECTORY)
		return fd, path, err
	}
	fd, err := u.beneath(path[:i], unix.O_RDONLY|unix.O_DIRECTORY)
	if err == unix.ENOENT {
		if err = u.makeFolder(path[:i]); err == nil {
			fd, err = u.beneath(path[:i], unix.O_RDONLY|unix.O_DIRECTORY)
		}
	}
	return fd, path[i+1:], err
}

func (u *unpacker) makeFolder(path string) error {
	dir, name, err := u.parent(path)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	err = unix.Mkdirat(dir, name, 0o755)
	if err == unix.EEXIST {
		return nil
	}
	return err
}

func (u *unpacker) folder(path string, h *tar.Header) error {
	if path != "" {
		if err := u.makeFolder(path); err != nil {
			return err
		}
		fd, err := u.beneath(path, unix.O_RDONLY|unix.O_DIRECTORY)
		if err != nil {
			return err // something else has that name
		}
		unix.Close(fd)
	}
	u.modes[path] = h
	return nil
}

// setFolders sets the modes and times of all folders, the deepest first. It comes last,
// because a mode may close a folder and new entries change its time.
func (u *unpacker) setFolders() error {
	var paths []string
	for path := range u.modes {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(b, a) })
	for _, path := range paths {
		at := path
		if at == "" {
			at = "."
		}
		fd, err := u.beneath(at, unix.O_RDONLY|unix.O_DIRECTORY)
		if err != nil {
			return err
		}
		h := u.modes[path]
		f := os.NewFile(uintptr(fd), "")
		err = errors.Join(unix.Fchmod(fd, uint32(h.Mode&0o7777)), setTimeFD(fd, h.ModTime))
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func setTimeAt(dir int, name string, t time.Time) error {
	return unix.UtimesNanoAt(dir, name, timesOf(t), unix.AT_SYMLINK_NOFOLLOW)
}

func setTimeFD(fd int, t time.Time) error {
	return unix.UtimesNanoAt(fd, "", timesOf(t), unix.AT_EMPTY_PATH)
}

func timesOf(t time.Time) []unix.Timespec {
	return []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Sec: t.Unix(), Nsec: int64(t.Nanosecond())}}
}

// counter counts the bytes read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}
