package main

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// sector is the unit that a disk writes whole.
const sector = 512

// loss decides which unsynced changes reach the disk.
type loss interface {
	// content returns the content of a file after the cut.
	content(base []byte, pending []change) []byte
	// name reports whether an unsynced change of a folder is on the disk.
	name() bool
}

// dropAll loses everything that was not synced.
type dropAll struct{}

func (dropAll) content(base []byte, _ []change) []byte { return base }
func (dropAll) name() bool                             { return false }

// someSectors keeps a random part of the sectors, written in random order, and
// of the names.
type someSectors struct{ *rand.Rand }

func (r someSectors) name() bool { return r.IntN(2) == 0 }

func (r someSectors) content(base []byte, pending []change) []byte {
	var pieces []change
	share := r.Float64()
	for _, c := range pending {
		if c.cut {
			pieces = append(pieces, c)
			continue
		}
		for at := int64(0); at < int64(len(c.data)); {
			end := min(int64(len(c.data)), at+sector-(c.at+at)%sector)
			pieces = append(pieces, change{at: c.at + at, data: c.data[at:end]})
			at = end
		}
	}
	r.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
	content := append([]byte(nil), base...)
	for _, p := range pieces {
		if r.Float64() < share {
			content = apply(content, []change{p})
		}
	}
	return content
}

// powerCut makes the backing folder what a disk holds after the power went. No
// operation works afterwards.
func (l *layer) powerCut(how loss) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	c := cutting{layer: l, how: how, paths: map[*inode]string{}, renamed: map[*inode]bool{}}
	err := filepath.WalkDir(l.backing, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			c.paths[l.at(path)] = path
		}
		return err
	})
	if err != nil {
		return err
	}
	next := l.backing + ".next"
	if err := c.make(l.at(l.backing), next); err != nil {
		return err
	}
	if err := os.RemoveAll(l.backing); err != nil {
		return err
	}
	return os.Rename(next, l.backing)
}

type cutting struct {
	layer *layer
	how   loss
	paths map[*inode]string // where things lie that still have a name

	renamed map[*inode]bool // which unsynced renames are on the disk
}

func (c *cutting) make(in *inode, to string) error {
	if in.made != "" && in.attr.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return os.Link(in.made, to)
	}
	in.made = to
	var err error
	switch in.attr.Mode & syscall.S_IFMT {
	case syscall.S_IFDIR:
		return c.folder(in, to)
	case syscall.S_IFLNK:
		target := in.target
		if at, ok := c.paths[in]; ok {
			target, _ = os.Readlink(at)
		}
		err = os.Symlink(target, to)
	case syscall.S_IFREG:
		if at, ok := c.paths[in]; ok && !in.held {
			return os.Link(at, to)
		}
		err = os.WriteFile(to, c.how.content(in.base, in.pending), 0o600)
	default:
		err = syscall.Mknod(to, in.attr.Mode, int(in.attr.Rdev))
	}
	if err != nil {
		return err
	}
	return dress(to, in.attr)
}

func (c *cutting) folder(in *inode, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for name, child := range c.entries(in) {
		if err := c.make(child, filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return dress(to, in.attr)
}

// entries are the names a folder has after the cut.
func (c *cutting) entries(in *inode) map[string]*inode {
	now := map[string]*inode{}
	if at, ok := c.paths[in]; ok {
		entries, _ := os.ReadDir(at) // an unreadable one was reported by the walk
		for _, e := range entries {
			now[e.Name()] = c.layer.at(filepath.Join(at, e.Name()))
		}
	}
	if !in.dirty {
		return now
	}
	out := map[string]*inode{}
	for name, child := range in.names {
		if now[name] == child || !c.lost(child, now[name]) {
			out[name] = child
		}
	}
	for name, child := range now {
		if in.names[name] != child && c.given(child) && child.made == "" {
			out[name] = child
		}
	}
	return out
}

// lost reports whether what had a name lost it on the disk, to another if that
// is not nil. A rename is one change: the new name goes with the loss of the old
// one, and whatever had that name before has it until then.
func (c *cutting) lost(child, other *inode) bool {
	_, there := c.paths[child]
	switch {
	case other != nil && other.moved:
		return c.given(other)
	case there && child.moved:
		return c.given(child)
	}
	return c.how.name()
}

// given reports whether the new name of something is on the disk.
func (c *cutting) given(child *inode) bool {
	if !child.moved {
		return c.how.name()
	}
	done, known := c.renamed[child]
	if !known {
		done = c.how.name()
		c.renamed[child] = done
	}
	return done
}

// dress gives owner, mode and times. They are taken as durable at once.
func dress(path string, st syscall.Stat_t) error {
	if err := os.Lchown(path, int(st.Uid), int(st.Gid)); err != nil {
		return err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFLNK {
		if err := syscall.Chmod(path, st.Mode&0o7777); err != nil {
			return err
		}
	}
	times := []unix.Timespec{unix.Timespec(st.Atim), unix.Timespec(st.Mtim)}
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, times, unix.AT_SYMLINK_NOFOLLOW)
}
