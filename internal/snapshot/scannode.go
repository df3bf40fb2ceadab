package snapshot

import (
	"choiros/internal/choir"

	"golang.org/x/sys/unix"
)

const openDir = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// node updates the cache entry of one path and reports whether it changed. ENOENT,
// unwrapped, means that the path is gone.
func (s *scan) node(fd int, n *node) (bool, error) {
	if n.Kind == Dir {
		changed, err := s.knownDir(fd, n)
		if err != unix.ENOTDIR && err != unix.ELOOP {
			return changed, err
		}
	}
	var st unix.Stat_t
	if err := unix.Fstatat(fd, n.Name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		if err == unix.ENOENT {
			return false, err
		}
		return false, s.withName(n.Name, func() error { return s.fail("stat", err) })
	}
	if kindOf(st.Mode) == File {
		if err := s.budget.spend(st.Size); err != nil {
			return false, err
		}
		if over, changed, err := s.countFile(n, &st); over || err != nil {
			return changed, err
		}
	}
	if n.Kind != 0 && n.Kind != Dir && n.sameAs(&st) && (n.Kind == Fifo || !racy(n.ctime, n.read)) {
		return false, nil
	}
	changed := false
	err := s.withName(n.Name, func() (err error) {
		changed, err = s.renew(fd, n, &st)
		return err
	})
	return changed, err
}

func (s *scan) knownDir(fd int, n *node) (changed bool, err error) {
	err = s.withName(n.Name, func() (err error) {
		changed, err = s.scanFolder(fd, n)
		return err
	})
	return changed, err
}

// scanFolder scans the folder n, whose name is already on the current path, and reports
// whether it changed. A folder that is left out loses its Kind. ENOTDIR and ELOOP mean
// that it is no folder any more.
func (s *scan) scanFolder(fd int, n *node) (bool, error) {
	if why := s.leavesFolder(); why != "" {
		changed := n.Kind != 0
		s.leaveOut(n, why, 0)
		return changed, nil
	}
	child, err := openAnyway(fd, n.Name, openDir)
	switch err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR, unix.ELOOP:
		return false, err
	case unix.EACCES:
		changed := n.Kind != 0
		s.leaveOut(n, choir.LeftUnreadable, 0)
		return changed, nil
	default:
		return false, s.fail("open", err)
	}
	defer unix.Close(child)
	changed, err := s.inside(child, n)
	switch {
	case err == errOver && s.budget == nil:
		s.leaveOut(n, "", 0)
		return true, nil
	case err == errCrowded:
		s.leaveOut(n, choir.LeftTooMany, 0)
		return true, nil
	case err == unix.EACCES:
		s.leaveOut(n, choir.LeftUnreadable, 0)
		return true, nil
	}
	if n.Sum = n.dir.sum; err == nil && n.dir.holdsOnlyLeftOut() {
		n.Kind, n.left, changed = 0, true, true
	}
	return changed, err
}

// inside scans the entries of a folder; for a cache folder it does so with the cache's
// budget and may return errOver.
func (s *scan) inside(fd int, n *node) (bool, error) {
	p, err := s.cache(fd, n)
	if err != nil {
		return false, err
	}
	if p != nil {
		s.budget = p
		defer func() { s.budget = nil }()
	}
	return s.folder(fd, n.dir)
}

// renew reads a path again whose stat differs from the cached one, and reports whether
// its entry changed.
func (s *scan) renew(fd int, n *node, st *unix.Stat_t) (bool, error) {
	before := n.Entry
	kind := kindOf(st.Mode)
	if kind != n.Kind {
		*n = node{Entry: Entry{Name: n.Name, Kind: kind}}
	}
	switch kind {
	case Dir:
		n.dir = &folder{}
		changed, err := s.scanFolder(fd, n)
		if err == unix.ENOTDIR || err == unix.ELOOP {
			err = unix.ENOENT // replaced just now; the next scan sees by what
		}
		if n.left {
			changed = before.Kind != 0
		}
		return changed, err
	case 0:
		s.result.Skipped = append(s.result.Skipped, EscapePath(s.path))
		return before.Kind != 0, nil
	case Symlink:
		target, err := readLink(fd, n.Name)
		if err != nil {
			return false, s.failUnlessGone("read the link", err)
		}
		n.Target = target
	case File:
		// A stamp that was not racy and a ctime that moved: only chmod, link or
		// rename may have happened, but a writer can put the mtime back too.
		if err := s.countRead(st.Size); err != nil {
			return false, err
		}
		err := s.file(fd, n, st)
		if err == ErrChanged {
			s.leaveOut(n, choir.LeftChanging, st.Size)
			return before.Kind != 0, nil
		}
		if err == unix.EACCES {
			s.leaveOut(n, choir.LeftUnreadable, st.Size)
			return before.Kind != 0, nil
		}
		if err != nil {
			return false, s.failUnlessGone("read", err)
		}
	}
	n.accept(st)
	n.read = s.start
	return n.Entry != before, nil
}

func (n *node) accept(st *unix.Stat_t) {
	n.Mode, n.MTime = st.Mode&maxMode, stampOf(st.Mtim)
	n.ctime, n.ino = stampOf(st.Ctim), st.Ino
	if n.Kind == File {
		n.Size = st.Size
	}
}

// failUnlessGone wraps an error with the current path, except ENOENT, which it returns
// unchanged: the caller leaves a vanished path out.
func (s *scan) failUnlessGone(doing string, err error) error {
	if err == unix.ENOENT {
		return err
	}
	return s.fail(doing, err)
}

func readLink(fd int, name string) (string, error) {
	buf := make([]byte, MaxTarget+1)
	n, err := unix.Readlinkat(fd, name, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// pathError converts a kernel error to a choir.Error with a code, the path and "cannot
// <doing>". Other errors, and nil, are returned unchanged.
func pathError(doing, path string, err error) error {
	if _, ok := err.(unix.Errno); !ok {
		return err
	}
	code := choir.CodeInternal
	switch err {
	case unix.EACCES, unix.EPERM:
		code = choir.CodeForbidden
	case unix.ENOENT:
		code = choir.CodeNotFound
	case unix.ENOSPC, unix.EDQUOT:
		code = choir.CodeNoSpace
	case unix.EMFILE, unix.ENFILE:
		code = choir.CodeBusy
	}
	return &choir.Error{Op: "snapshot", Code: code, Path: path, Msg: "cannot " + doing, Err: err}
}
