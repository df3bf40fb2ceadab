package guest

import (
	"context"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/snapshot"
)

// maxCopyEntries and maxCopyBytes bound one copy.
const (
	maxCopyEntries = 100_000
	maxCopyBytes   = 4 << 30
)

// copy handles the operation copy: it copies the path under a temporary name beside its
// destination and renames it, so that the destination is complete or absent.
func (s *Server) copy(ctx context.Context, _ *wire, r *request) (any, error) {
	from, name, err := s.openParent(r.Path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(from)
	to, newName, err := s.openParent(r.To)
	if err != nil {
		return nil, choir.Under("to", err)
	}
	defer unix.Close(to)
	temp := tempName()
	for unix.Faccessat(to, temp, 0, unix.AT_SYMLINK_NOFOLLOW) == nil {
		temp = tempName() // left behind by a crash
	}
	c := copying{ctx: ctx, path: r.Path, temp: temp}
	err = c.entry(from, name, to, temp, 0)
	if err == nil {
		fault.Point("guest.copy.rename")
		err = pathError("copy", r.To, snapshot.RenameNew(to, temp, to, newName))
	}
	if err != nil {
		// Even when the caller is gone; the first error counts.
		_ = removeAll(context.WithoutCancel(ctx), to, temp, nil)
		return nil, pathError("copy", r.Path, err)
	}
	return &done{Files: c.entries, Bytes: c.bytes}, nil
}

// copying is the state of one copy operation.
type copying struct {
	ctx            context.Context
	path, temp     string
	entries, bytes int64
}

func (c *copying) entry(from int, name string, to int, newName string, depth int) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstatat(from, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if c.entries++; c.entries > maxCopyEntries || depth > snapshot.MaxDepth {
		return c.tooLarge()
	}
	var err error
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		err = c.file(from, name, to, newName, &st)
	case unix.S_IFDIR:
		err = c.folder(from, name, to, newName, &st, depth)
	case unix.S_IFLNK:
		err = copyLink(from, name, to, newName)
	default:
		return &choir.Error{Op: "guest.copy", Code: choir.CodeRefused, Path: c.path, Msg: "is or holds something that is neither file, folder nor link"}
	}
	if err != nil {
		return err
	}
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, st.Mtim}
	return unix.UtimesNanoAt(to, newName, times, unix.AT_SYMLINK_NOFOLLOW)
}

func (c *copying) file(from int, name string, to int, newName string, st *unix.Stat_t) error {
	if c.bytes += st.Size; c.bytes > maxCopyBytes {
		return c.tooLarge()
	}
	in, err := unix.Openat(from, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	source := os.NewFile(uintptr(in), name)
	defer source.Close()
	out, err := unix.Openat(to, newName, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	target := os.NewFile(uintptr(out), newName)
	defer target.Close()
	// No more than was counted, should it grow meanwhile.
	if _, err := io.CopyN(target, source, st.Size); err != nil && err != io.EOF {
		return err
	}
	return unix.Fchmod(out, st.Mode&0o7777)
}

func (c *copying) folder(from int, name string, to int, newName string, st *unix.Stat_t, depth int) error {
	in, err := unix.Openat(from, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	source := os.NewFile(uintptr(in), name)
	defer source.Close()
	if err := unix.Mkdirat(to, newName, 0o700); err != nil {
		return err
	}
	out, err := unix.Openat(to, newName, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(out)
	names, err := source.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, child := range names {
		if child == c.temp {
			continue // the copy itself, beside what is copied
		}
		if err := c.entry(in, child, out, child, depth+1); err != nil {
			return err
		}
	}
	return unix.Fchmod(out, st.Mode&0o7777)
}

func copyLink(from int, name string, to int, newName string) error {
	buf := make([]byte, snapshot.MaxTarget+1)
	n, err := unix.Readlinkat(from, name, buf)
	if err != nil {
		return err
	}
	return unix.Symlinkat(string(buf[:n]), to, newName)
}

func (c *copying) tooLarge() error {
	return (&choir.Error{Op: "guest.copy", Code: choir.CodeTooLarge, Path: c.path, Msg: "has more than 100,000 entries or 4 GiB"}).
		WithRemedy("copy its parts, or use cp in a terminal")
}
