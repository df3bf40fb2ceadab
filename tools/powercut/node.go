package main

import (
	"context"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// node passes everything on to the backing folder and tells the layer first.
type node struct {
	fs.LoopbackNode
	layer *layer
}

func newRoot(l *layer) (fs.InodeEmbedder, error) {
	var st syscall.Stat_t
	if err := syscall.Stat(l.backing, &st); err != nil {
		return nil, err
	}
	data := &fs.LoopbackRoot{Path: l.backing, Dev: uint64(st.Dev)}
	root := &node{LoopbackNode: fs.LoopbackNode{RootData: data}, layer: l}
	data.RootNode = root
	return root, nil
}

// WrapChild makes children nodes of this kind.
func (n *node) WrapChild(context.Context, fs.InodeEmbedder) fs.InodeEmbedder {
	return &node{LoopbackNode: fs.LoopbackNode{RootData: n.RootData}, layer: n.layer}
}

// path is where the node lies in the backing folder; empty when it has no name.
func (n *node) path() string {
	if _, parent := n.Parent(); parent == nil && !n.IsRoot() {
		return ""
	}
	return filepath.Join(n.layer.backing, n.Path(n.RootData.RootNode.EmbeddedInode()))
}

func (n *node) below(name string) string { return filepath.Join(n.path(), name) }

// durable is the durable side of the node, also when it has no name any more.
func (n *node) durable() *inode {
	if in := n.layer.live[n.StableAttr().Ino]; in != nil {
		return in
	}
	return n.layer.at(n.path())
}

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (child *fs.Inode, errno syscall.Errno) {
	errno = n.layer.do(func() (errno syscall.Errno) {
		child, errno = n.LoopbackNode.Lookup(ctx, name, out)
		return errno
	})
	return child, errno
}

// add runs an operation that makes a name in this folder.
func (n *node) add(name string, make func() (*fs.Inode, syscall.Errno)) (child *fs.Inode, errno syscall.Errno) {
	errno = n.layer.do(func() syscall.Errno {
		if errno := n.layer.loosen(n.path()); errno != 0 {
			return errno
		}
		if child, errno = make(); errno == 0 {
			n.layer.added(n.below(name))
		}
		return errno
	})
	return child, errno
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.add(name, func() (*fs.Inode, syscall.Errno) { return n.LoopbackNode.Mkdir(ctx, name, mode, out) })
}

func (n *node) Mknod(ctx context.Context, name string, mode, dev uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.add(name, func() (*fs.Inode, syscall.Errno) { return n.LoopbackNode.Mknod(ctx, name, mode, dev, out) })
}

func (n *node) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.add(name, func() (*fs.Inode, syscall.Errno) { return n.LoopbackNode.Symlink(ctx, target, name, out) })
}

func (n *node) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (child *fs.Inode, fh fs.FileHandle, fuseFlags uint32, errno syscall.Errno) {
	child, errno = n.add(name, func() (*fs.Inode, syscall.Errno) {
		child, fh, fuseFlags, errno = n.LoopbackNode.Create(ctx, name, flags|syscall.O_EXCL, mode, out)
		return child, errno
	})
	return child, plain(fh), fuseFlags, errno
}

func (n *node) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (child *fs.Inode, errno syscall.Errno) {
	errno = n.layer.do(func() syscall.Errno {
		if errno := n.layer.loosen(n.path()); errno != 0 {
			return errno
		}
		child, errno = n.LoopbackNode.Link(ctx, target, name, out)
		return errno
	})
	return child, errno
}

// remove runs an operation that takes a name away.
func (n *node) remove(name string, take func() syscall.Errno) syscall.Errno {
	return n.layer.do(func() syscall.Errno {
		gone := n.layer.at(n.below(name))
		if errno := n.layer.loosen(n.path()); errno != 0 {
			return errno
		}
		if errno := n.layer.leave(n.below(name)); errno != 0 {
			return errno
		}
		errno := take()
		if errno == 0 {
			n.layer.left(gone)
		}
		return errno
	})
}

func (n *node) Unlink(ctx context.Context, name string) syscall.Errno {
	return n.remove(name, func() syscall.Errno { return n.LoopbackNode.Unlink(ctx, name) })
}

func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno {
	return n.remove(name, func() syscall.Errno { return n.LoopbackNode.Rmdir(ctx, name) })
}

func (n *node) Rename(ctx context.Context, name string, to fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	other, ok := to.(*node)
	if !ok {
		return syscall.EXDEV
	}
	return n.layer.do(func() syscall.Errno {
		gone, moved := n.layer.at(other.below(newName)), n.layer.at(n.below(name))
		for _, dir := range []string{n.path(), other.path()} {
			if errno := n.layer.loosen(dir); errno != 0 {
				return errno
			}
		}
		if errno := n.layer.leave(other.below(newName)); errno != 0 {
			return errno
		}
		errno := n.LoopbackNode.Rename(ctx, name, &other.LoopbackNode, newName, flags)
		const exchange = 2
		if errno == 0 && flags&exchange == 0 && gone != moved {
			n.layer.left(gone)
		}
		if errno == 0 && moved != nil {
			moved.moved = true
		}
		return errno
	})
}

func (n *node) Open(ctx context.Context, flags uint32) (fh fs.FileHandle, fuseFlags uint32, errno syscall.Errno) {
	errno = n.layer.do(func() (errno syscall.Errno) {
		if flags&syscall.O_TRUNC != 0 {
			if errno = n.change(change{cut: true}); errno != 0 {
				return errno
			}
		}
		fh, fuseFlags, errno = n.LoopbackNode.Open(ctx, flags)
		return errno
	})
	return plain(fh), fuseFlags | fuse.FOPEN_KEEP_CACHE, errno // nobody else writes the backing folder
}

// change notes an unsynced change of the content.
func (n *node) change(c change) syscall.Errno {
	in := n.durable()
	if in == nil {
		return 0 // it lost its name before it was ever durable
	}
	if errno := n.layer.hold(in, n.path()); errno != 0 {
		return errno
	}
	in.pending = append(in.pending, c)
	return 0
}

func (n *node) Write(ctx context.Context, fh fs.FileHandle, data []byte, off int64) (written uint32, errno syscall.Errno) {
	errno = n.layer.do(func() (errno syscall.Errno) {
		if errno = n.change(change{at: off, data: slices.Clone(data)}); errno != 0 {
			return errno
		}
		written, errno = fh.(fs.FileWriter).Write(ctx, data, off)
		return errno
	})
	return written, errno
}

func (n *node) Setattr(ctx context.Context, fh fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return n.layer.do(func() syscall.Errno {
		if size, ok := in.GetSize(); ok {
			if errno := n.change(change{at: int64(size), cut: true}); errno != 0 {
				return errno
			}
		}
		return n.LoopbackNode.Setattr(ctx, fh, in, out)
	})
}

// Fsync serves files and folders, and fdatasync.
func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	return n.layer.do(func() syscall.Errno {
		if in := n.durable(); in != nil {
			n.layer.sync(in, n.path())
		}
		return 0
	})
}

// Allocate and CopyFileRange are refused, so that programs write instead.
func (n *node) Allocate(context.Context, fs.FileHandle, uint64, uint64, uint32) syscall.Errno {
	return syscall.ENOTSUP
}

func (n *node) CopyFileRange(context.Context, fs.FileHandle, uint64, *fs.Inode, fs.FileHandle, uint64, uint64, uint64) (uint32, syscall.Errno) {
	return 0, syscall.ENOTSUP
}

// OpendirHandle gives a handle whose fsync comes to the node.
func (n *node) OpendirHandle(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	fh, fuseFlags, errno := n.LoopbackNode.OpendirHandle(ctx, flags)
	if errno != 0 {
		return nil, 0, errno
	}
	return &folder{fh.(folderHandle), n}, fuseFlags, 0
}

// folderHandle is the set of operations of a backing folder's handle.
type folderHandle interface {
	fs.FileReaddirenter
	fs.FileReleasedirer
	fs.FileSeekdirer
}

// folder is an open folder.
type folder struct {
	folderHandle
	node *node
}

// Fsyncdir makes the folder's names durable.
func (f *folder) Fsyncdir(ctx context.Context, flags uint32) syscall.Errno {
	return f.node.Fsync(ctx, nil, flags)
}

// file is an open file of the backing folder. It hides that the kernel could
// write to that itself, past the layer.
type file struct{ *fs.LoopbackFile }

func plain(fh fs.FileHandle) fs.FileHandle {
	if f, ok := fh.(*fs.LoopbackFile); ok {
		return &file{f}
	}
	return fh
}

// PassthroughFd refuses.
func (*file) PassthroughFd() (int, bool) { return 0, false }
