package scope

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// letIn makes the folders of a root that lie outside the workspace, and opens what a task
// may have closed to all that come after it: modes can be changed where nothing can be
// written, for Landlock does not know them. Folders that are this process's alone become
// so again; others, which a path to them leads through, open to their owner at least.
func (s *Set) letIn(at place, f folders) error {
	for _, path := range append([]string{filepath.Dir(s.cfg.Scratch), s.homeFolder()}, s.cfg.Shared...) {
		openWay(path, 0o700)
	}
	openWay(s.root(at), 0o500) // a project may be one that its owner only reads
	own := []string{s.cfg.Scratch}
	if !at.isWorkspace() {
		own = append(own, filepath.Join(s.cfg.Scratch, "of"), s.ownFolder(at))
	}
	own = append(own, f.temp, f.home, f.cache, f.role)
	for _, dir := range own {
		// A former task may have cleared it away.
		if err := makeOwn(dir); err != nil {
			return choir.Wrap("scope.open", choir.CodeNoSpace, err, "make the scratch folder %s", dir)
		}
	}
	return nil
}

// homeFolder returns the home folder that the environment of commands names.
func (s *Set) homeFolder() string {
	for _, kv := range s.cfg.Env {
		if home, ok := strings.CutPrefix(kv, "HOME="); ok {
			return home
		}
	}
	return "/"
}

// openWay opens a folder and the folders above it to their owner where their mode lacks one
// of the bits. Folders of another user stay as they are.
func openWay(path string, bits uint32) {
	open := func(mode uint32) uint32 {
		if mode&bits == bits {
			return mode
		}
		return mode | 0o700
	}
	for i := 1; i <= len(path); i++ {
		if i == len(path) || path[i] == '/' {
			_ = setMode(path[:i], open) // where it fails, what comes next says better what is wrong
		}
	}
}

// makeOwn makes a folder, unless it is there, and lets nobody in but its owner.
func makeOwn(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	return setMode(path, func(uint32) uint32 { return 0o700 })
}

// setMode sets the mode of a folder, when it is to be another. A link is no folder.
func setMode(path string, want func(mode uint32) uint32) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	mode := st.Mode & 0o7777
	if want(mode) == mode {
		return nil
	}
	// fchmod is refused for a descriptor that can only name the folder.
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), want(mode))
}
