package snapshot

import (
	"io"
	"strconv"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/sparse"
)

// write creates the file, link or fifo e in the open folder fd, replacing any path of
// that name that is no folder. The change is atomic: it makes e under a temporary name
// and renames it.
func (r *restore) write(fd int, e *Entry) error {
	temp, err := r.make(fd, e)
	if err == nil {
		fault.Point("restore.rename")
		err = unix.Renameat(fd, temp, fd, e.Name)
	}
	if err != nil && temp != "" {
		unix.Unlinkat(fd, temp, 0) // the first error is the one that counts
	}
	return err
}

// make creates the path of e under a temporary name. It returns the name if the caller
// must rename or remove it, else "".
func (r *restore) make(fd int, e *Entry) (string, error) {
	for {
		r.temps++
		temp := ".choir-restore-" + strconv.Itoa(r.temps)
		var err error
		switch e.Kind {
		case File:
			err = r.makeFile(fd, temp, e)
		case Symlink:
			err = unix.Symlinkat(e.Target, fd, temp)
		case Fifo:
			err = unix.Mknodat(fd, temp, unix.S_IFIFO|0o600, 0)
		}
		if err == unix.EEXIST {
			continue
		}
		if err != nil || e.Kind == File {
			return temp, err
		}
		named := *e
		named.Name = temp
		_, err = setMeta(fd, &named)
		return temp, err
	}
}

func (r *restore) makeFile(dir int, name string, e *Entry) error {
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := r.copyTo(fd, e); err != nil {
		return err
	}
	if err := unix.Fchmod(fd, e.Mode); err != nil {
		return err
	}
	return setTime(fd, e.MTime)
}

func (r *restore) copyTo(fd int, e *Entry) error {
	if e.Size == 0 {
		return nil
	}
	content, err := r.get.Content(r.ctx, e.Digest())
	if err != nil {
		return err
	}
	defer content.Close()
	w := sparse.NewWriter(fd)
	n, err := io.CopyBuffer(onlyWriter{w}, content, make([]byte, min(e.Size, readSize)))
	if err == nil {
		err = w.Finish()
	}
	if err == nil && n != e.Size {
		err = choir.E("snapshot.restore", choir.CodeCorrupt, "content %s has %d bytes, not %d", e.Digest(), n, e.Size)
	}
	return err
}

// remove deletes a path and everything below it that the restore selects. Paths that are
// left out of snapshots stay, and so do folders that still contain something.
func (r *restore) remove(dir int, name, path string) error {
	if r.left.has(path) {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return ignoreGone(pathError("look at", path, err))
	}
	flags := 0
	if kindOf(st.Mode) == Dir {
		if err := r.empty(dir, name, path); err != nil {
			return err
		}
		flags = unix.AT_REMOVEDIR
	}
	if !r.wants(path) {
		return nil
	}
	fault.Point("restore.remove")
	err := unix.Unlinkat(dir, name, flags)
	if err == unix.ENOTEMPTY && (r.only != nil || r.left.below(path)) {
		return nil
	}
	if err == nil {
		r.result.Removed++
	}
	return ignoreGone(pathError("remove", path, err))
}

func ignoreGone(err error) error {
	if choir.CodeOf(err) == choir.CodeNotFound {
		return nil
	}
	return err
}

// empty calls remove for each name in the folder.
func (r *restore) empty(dir int, name, path string) error {
	if r.depth++; r.depth > 2*MaxDepth {
		return &choir.Error{Op: "snapshot.restore", Code: choir.CodeTooLarge, Path: path, Msg: "lies too deep to be removed"}
	}
	defer func() { r.depth-- }()
	fd, err := openWide(dir, name)
	if err != nil {
		return ignoreGone(pathError("open", path, err))
	}
	defer unix.Close(fd)
	names, err := readNames(fd, maxNames)
	if err != nil {
		return pathError("list", path, err)
	}
	for _, child := range names {
		if err := r.remove(fd, child, join(path, child)); err != nil {
			return err
		}
	}
	return nil
}
