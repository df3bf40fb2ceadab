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
	state, err := stateAt(dir, "", shown(r.Path))
	return &state, err
}

// shown is how a path stands in a FileState, which is never without one.
func shown(path string) string {
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

// Pages of a folder.
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

// pageOf describes the names behind after, until the page is full. What cannot
// be described (a socket, or gone meanwhile) is left out.
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

// readFile answers the file's state in a control frame's place and then its
// bytes.
func (s *Server) readFile(_ context.Context, w *wire, r *request) (any, error) {
	fd, err := s.openPath(r.Path, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "")
	defer f.Close()
	state, err := stateAt(fd, "", shown(r.Path))
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
	dir, name, err := s.at(r.Path)
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
	from, name, err := s.at(r.Path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(from)
	to, newName, err := s.at(r.To)
	if err != nil {
		return nil, choir.Under("to", err)
	}
	defer unix.Close(to)
	fault.Point("guest.rename")
	err = unix.Renameat2(from, name, to, newName, unix.RENAME_NOREPLACE)
	if err == unix.EACCES {
		err = renameClosed(from, name, to, newName)
	}
	return &done{}, pathError("rename", r.Path, err)
}

// renameClosed moves a folder that its owner may not write to, which the kernel asks
// for because of its "..": the mode is widened for the move.
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
	err = unix.Renameat2(from, name, to, newName, unix.RENAME_NOREPLACE)
	if back := unix.Chmod(open, st.Mode&0o7777); err == nil {
		err = back
	}
	return err
}

func (s *Server) remove(ctx context.Context, w *wire, r *request) (any, error) {
	dir, name, err := s.at(r.Path)
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

// removeAll deletes a tree and follows no link; report, which may be nil, is told
// how many paths are gone.
func removeAll(ctx context.Context, dir int, name string, report func(int64)) error {
	fault.Point("guest.remove.tree")
	return snapshot.RemoveTree(ctx, dir, name, report)
}
