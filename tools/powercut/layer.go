package main

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// layer knows what of a backing folder would be there after a power cut. The
// backing folder itself is what the programs see.
type layer struct {
	backing string

	mu   sync.Mutex // guards the rest, and every change of the backing folder
	cut  bool       // the power is gone: nothing works any more
	live map[uint64]*inode
}

// inode is the durable side of a file, folder or link. What was not touched
// since the start is durable as it lies in the backing folder.
type inode struct {
	attr   syscall.Stat_t
	target string // of a link

	held    bool   // a file: base and pending hold, not the backing folder
	base    []byte // durable content
	pending []change

	dirty bool // a folder: names holds, not the backing folder
	names map[string]*inode

	moved bool // a rename gave it a name

	made string // where the cut has put it
}

// change is a write, or with cut the new length, that was not synced.
type change struct {
	at   int64
	data []byte
	cut  bool
}

func newLayer(backing string) *layer {
	return &layer{backing: backing, live: map[uint64]*inode{}}
}

// do makes one change of the backing folder.
func (l *layer) do(op func() syscall.Errno) syscall.Errno {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return syscall.EIO
	}
	return op()
}

// at is the durable side of what lies at a path; nil for what is not there.
func (l *layer) at(path string) *inode {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) != nil {
		return nil
	}
	in := l.live[st.Ino]
	if in == nil {
		in = &inode{}
		l.live[st.Ino] = in
	}
	in.attr = st
	return in
}

// added takes up what was just made: nothing of it is durable.
func (l *layer) added(path string) {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) != nil {
		return
	}
	in := &inode{attr: st, held: true, dirty: true, names: map[string]*inode{}}
	if st.Mode&syscall.S_IFMT == syscall.S_IFLNK {
		in.target, _ = os.Readlink(path)
	}
	l.live[st.Ino] = in
}

// hold keeps the durable content of a file that is about to change.
func (l *layer) hold(in *inode, path string) syscall.Errno {
	if in == nil || in.held || in.attr.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return 0
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return syscall.EIO
	}
	in.held, in.base = true, content
	return 0
}

// loosen keeps the durable names of a folder that is about to change.
func (l *layer) loosen(dir string) syscall.Errno {
	in := l.at(dir)
	if in == nil || in.dirty {
		return 0
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return syscall.EIO
	}
	in.dirty, in.names = true, map[string]*inode{}
	for _, e := range entries {
		if child := l.at(filepath.Join(dir, e.Name())); child != nil {
			in.names[e.Name()] = child
		}
	}
	return 0
}

// leave keeps what is about to lose a name, because the name may come back.
func (l *layer) leave(path string) syscall.Errno {
	in := l.at(path)
	if in == nil {
		return 0
	}
	switch in.attr.Mode & syscall.S_IFMT {
	case syscall.S_IFDIR:
		return l.loosen(path)
	case syscall.S_IFLNK:
		in.target, _ = os.Readlink(path)
	}
	return l.hold(in, path)
}

// left forgets the number of what has lost its last name.
func (l *layer) left(in *inode) {
	if in != nil && (in.attr.Nlink <= 1 || in.attr.Mode&syscall.S_IFMT == syscall.S_IFDIR) && l.live[in.attr.Ino] == in {
		delete(l.live, in.attr.Ino)
	}
}

// sync makes a file's content and its name durable, or a folder's names. The
// names of the folders above it are those of the same journal transaction.
func (l *layer) sync(in *inode, path string) {
	if in.attr.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		in.dirty, in.names = false, nil
	} else {
		in.base = apply(in.base, in.pending)
		in.pending = nil
	}
	for path != "" && path != l.backing && filepath.Dir(path) != path {
		parent := l.at(filepath.Dir(path))
		if parent == nil {
			return
		}
		if parent.dirty {
			if child := l.at(path); child != nil {
				parent.names[filepath.Base(path)] = child
			}
		}
		path = filepath.Dir(path)
	}
}

// apply makes the changes to a content.
func apply(content []byte, changes []change) []byte {
	for _, c := range changes {
		switch {
		case c.cut && c.at <= int64(len(content)):
			content = content[:c.at:c.at]
		case c.cut:
			content = append(content, make([]byte, c.at-int64(len(content)))...)
		default:
			if need := c.at + int64(len(c.data)); need > int64(len(content)) {
				content = append(content, make([]byte, need-int64(len(content)))...)
			}
			copy(content[c.at:], c.data)
		}
	}
	return content
}
