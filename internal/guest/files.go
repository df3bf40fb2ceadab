package guest

import (
	"context"
	"io"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/fault"
	"choiros/internal/snapshot"
)

func (s *Server) stat(_ context.Context, _ *wire, r *request) (any, error) {
	dir, err := s.openPath(r.Path, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	state, err := stateAt(dir, "", displayPath(r.Path))
	return &state, err
}

// displayPath returns the path for a FileState, in which the workspace itself is "."
// instead of "".
func displayPath(path string) string {
	if path == "" {
		return "."
	}
	return path
}

func (s *Server) openPath(escaped string, flags int) (int, error) {
	rel, err := parsePath(escaped)
	if err != nil {
		return -1, err
	}
	b, err := s.beneath()
	if err != nil {
		return -1, err
	}
	defer b.close()
	fd, err := b.open(rel, flags, 0)
	return fd, pathError("open", escaped, err)
}

// defaultPage is the default number of entries in one page of a folder, and maxPage and
// maxPageSize are its limits.
const (
	defaultPage = 1000
	maxPage     = 10000
	maxPageSize = MaxFrame / 2 // bytes of paths
)

func (s *Server) list(_ context.Context, _ *wire, r *request) (any, error) {
	fd, err := s.openPath(r.Path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	dir := os.NewFile(uintptr(fd), "")
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, pathError("list", r.Path, err)
	}
	slices.Sort(names)
	after, err := snapshot.UnescapePath(r.After)
	if err != nil {
		return nil, choir.Under("after", err)
	}
	return pageOf(dir, names, string(after), r)
}

// pageOf returns the states of the names that sort after after, until the page is full.
// Sockets, devices and names that have vanished are left out. names must be sorted.
func pageOf(dir *os.File, names []string, after string, r *request) (*Listing, error) {
	limit := r.Limit
	if limit == 0 {
		limit = defaultPage
	}
	page := &Listing{Entries: []choir.FileState{}}
	size := 0
	for _, name := range names {
		if r.After != "" && name <= after {
			continue
		}
		if len(page.Entries) == min(limit, maxPage) || size > maxPageSize {
			page.More = true
			break
		}
		path := snapshot.EscapePath([]byte(name))
		if r.Path != "" {
			path = r.Path + "/" + path
		}
		state, err := stateAt(int(dir.Fd()), name, path)
		if err != nil {
			continue
		}
		size += len(path) + len(state.Target) + 150
		page.Entries = append(page.Entries, state)
	}
	return page, nil
}

// readFile handles the operation read: it replies with the file's state and then streams
// its content, up to its length at the start.
func (s *Server) readFile(_ context.Context, w *wire, r *request) (any, error) {
	fd, err := s.openPath(r.Path, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "")
	defer f.Close()
	state, err := stateAt(fd, "", displayPath(r.Path))
	if err != nil {
		return nil, err
	}
	if state.Kind != "file" {
		return nil, &choir.Error{Op: "guest.read", Code: choir.CodeInvalid, Path: r.Path, Msg: "is a " + state.Kind + ", not a file"}
	}
	if err := w.writeJSON(frameReply, &state); err != nil {
		return nil, err
	}
	return nil, w.sendStream(frameData, io.NewSectionReader(f, 0, state.Size))
}

func (s *Server) mkdir(_ context.Context, _ *wire, r *request) (any, error) {
	dir, name, err := s.openParent(r.Path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	mode := r.Mode
	if mode == 0 {
		mode = 0o755
	}
	return &done{}, pathError("make the folder", r.Path, unix.Mkdirat(dir, name, mode))
}

func (s *Server) rename(_ context.Context, _ *wire, r *request) (any, error) {
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
	fault.Point("guest.rename")
	err = snapshot.RenameNew(from, name, to, newName)
	if err == unix.EACCES {
		err = renameClosed(from, name, to, newName)
	}
	return &done{}, pathError("rename", r.Path, err)
}

// renameClosed renames a folder whose mode denies its owner the write access that the
// kernel requires to change "..": it adds the permission for the call. Any other folder
// is EACCES.
func renameClosed(from int, name string, to int, newName string) error {
	fd, err := unix.Openat(from, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return unix.EACCES
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&0o200 != 0 {
		return unix.EACCES
	}
	open := "/proc/self/fd/" + strconv.Itoa(fd)
	if err := unix.Chmod(open, st.Mode&0o7777|0o200); err != nil {
		return unix.EACCES
	}
	err = snapshot.RenameNew(from, name, to, newName)
	if back := unix.Chmod(open, st.Mode&0o7777); err == nil {
		err = back
	}
	return err
}

func (s *Server) remove(ctx context.Context, w *wire, r *request) (any, error) {
	dir, name, err := s.openParent(r.Path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	if r.All {
		ctx, release := w.untilHangup(ctx)
		defer release()
		at := w.startReports()
		err := removeAll(ctx, dir, name, at.entries.Store)
		at.stop()
		return &done{Files: at.entries.Load()}, pathError("remove", r.Path, err)
	}
	fault.Point("guest.remove")
	err = unix.Unlinkat(dir, name, 0)
	if err == unix.EISDIR {
		err = unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
	}
	return &done{}, pathError("remove", r.Path, err)
}

// removeAll deletes a tree without following links and passes the number of removed paths
// to report, which may be nil.
func removeAll(ctx context.Context, dir int, name string, report func(int64)) error {
	fault.Point("guest.remove.tree")
	return snapshot.RemoveTree(ctx, dir, name, report)
}
