package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/host"

	"golang.org/x/sys/unix"
)

// reach determines which folders a sandbox's host user cannot reach because a folder
// above is closed. It caches the answers in open.
type reach struct {
	group int // the user's; -1 for a user in no group
	open  map[string]bool
}

// closedAbove returns the topmost folder above path that the user may not enter; "" if
// there is none. A missing part of path counts as open.
func (r reach) closedAbove(path string) string {
	real, err := filepath.EvalSymlinks(path)
	for err != nil && errors.Is(err, fs.ErrNotExist) && path != filepath.Dir(path) {
		path = filepath.Dir(path)
		real, err = filepath.EvalSymlinks(path)
	}
	closed := ""
	// The folder itself is the sandbox's to enter or not; its owner is set for it.
	for dir := filepath.Dir(real); err == nil; dir = filepath.Dir(dir) {
		if !r.entered(dir) {
			closed = dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return closed
}

func (r reach) entered(dir string) bool {
	open, known := r.open[dir]
	if !known {
		info, err := os.Stat(dir)
		open = err != nil || info.Mode()&0o001 != 0 || info.Mode()&0o010 != 0 && groupOf(info) == r.group
		r.open[dir] = open
	}
	return open
}

func groupOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Gid)
	}
	return -1
}

// cover is a closed folder and the folders below it that a sandbox needs.
type cover struct {
	closed string
	needed []string // real paths, those above others first
}

// coversFor returns the closed folders above the folders of a spec. They must be covered
// for bubblewrap, which runs as the sandbox's host user. Without root it is nil.
func (m *machine) coversFor(spec sandbox.Spec) []cover {
	if !m.root {
		return nil
	}
	r := reach{spec.UID, map[string]bool{}}
	var out []cover
	paths := []string{m.cfg.StateDir, m.cfg.Modules, spec.Doors, spec.Guest}
	for _, mount := range spec.Mounts {
		paths = append(paths, mount.Folder)
	}
	for _, path := range paths {
		if path == "" {
			continue
		}
		closed := r.closedAbove(path)
		if closed == "" {
			continue
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue // bubblewrap says what is not there
		}
		out = addNeeded(out, closed, real)
	}
	return out
}

func addNeeded(all []cover, closed, path string) []cover {
	for i := range all {
		if all[i].closed != closed {
			continue
		}
		for _, has := range all[i].needed {
			if path == has || strings.HasPrefix(path, has+"/") {
				return all
			}
		}
		all[i].needed = append(all[i].needed, path)
		return all
	}
	return append(all, cover{closed, []string{path}})
}

// mountOver mounts a folder in memory over the closed one, in this thread's mount
// namespace. Everybody may enter it, and it contains only the needed folders, bound to
// their originals.
func (c cover) mountOver() error {
	held := make([]*os.File, len(c.needed))
	defer func() {
		for _, f := range held {
			f.Close()
		}
	}()
	for i, path := range c.needed {
		f, err := os.OpenFile(path, unix.O_PATH|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		held[i] = f
	}
	if err := unix.Mount("tmpfs", c.closed, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0711,size=1m"); err != nil {
		return os.NewSyscallError("mount", err)
	}
	for i, path := range c.needed {
		if err := makeWalkable(c.closed, path); err != nil {
			return err
		}
		source := "/proc/self/fd/" + strconv.Itoa(int(held[i].Fd()))
		if err := unix.Mount(source, path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return os.NewSyscallError("mount", err)
		}
	}
	return nil
}

// makeWalkable creates path and the folders between closed and it with mode 0711,
// whatever the umask.
func makeWalkable(closed, path string) error {
	if path == closed {
		return nil
	}
	if err := makeWalkable(closed, filepath.Dir(path)); err != nil {
		return err
	}
	err := os.Mkdir(path, 0o711)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Chmod(path, 0o711)
}

// ownView gives this thread a mount namespace of its own. Its mounts do not propagate to
// the host's.
func ownView() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return os.NewSyscallError("unshare", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return os.NewSyscallError("mount", err)
	}
	return nil
}

// probeReach checks, if the data folder lies below a closed folder, whether it can be
// mounted into sandboxes. ok is false if no check is needed.
func probeReach(cfg Config, root bool) (sandbox.Check, bool) {
	closed := reach{-1, map[string]bool{}}.closedAbove(cfg.StateDir)
	if !root || closed == "" {
		return sandbox.Check{}, false
	}
	c := sandbox.Check{Name: "data folder", Required: true, OK: true, Detail: closed + " is closed to others, so sandboxes see the data folder through mounts of their own"}
	err := host.OnOwnThread(func() error {
		if err := ownView(); err != nil {
			return err
		}
		return cover{closed: closed}.mountOver()
	})
	if err != nil {
		c.OK, c.Detail = false, "the sandboxes' own users cannot enter "+closed+", and a mount namespace that shows it cannot be made: "+err.Error()
		c.Remedy = "chmod o+x " + closed + ", or choose another data folder with --data"
	}
	return c, true
}

// notShown returns code unavailable for the folders below a closed folder that could not
// be mounted.
func notShown(closed string, err error) error {
	return choir.Refuse("local.create", choir.ReasonLocalFoldersClosed, choir.TextOf("path", closed), choir.TextOf("why", err))
}
