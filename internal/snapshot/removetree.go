package snapshot

import (
	"context"
	"strconv"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// RemoveTree deletes the path name in the open folder dir and everything below it, at any
// depth, without following symbolic links. It calls report, if not nil, with the number
// of paths removed so far. A folder that is moved meanwhile is code conflict; kernel
// errors are returned unwrapped.
//
// It has three folders open at a time and returns to a parent by "..", whose identity it
// checks. Deep folders are moved up to the removed root first, because each step at depth
// costs the kernel the whole way down.
func RemoveTree(ctx context.Context, dir int, name string, report func(int64)) error {
	err := unix.Unlinkat(dir, name, 0)
	if err != unix.EISDIR {
		return err
	}
	r := &treeRemoval{ctx: ctx, top: dir, at: dir, root: -1, report: report}
	defer func() {
		closeUnless(r.at, dir)
		if r.root >= 0 {
			unix.Close(r.root)
		}
	}()
	if err := r.down(name); err != nil {
		return err
	}
	if r.root, err = unix.FcntlInt(uintptr(r.at), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return err
	}
	for len(r.above) > 0 {
		if err := r.step(); err != nil {
			return err
		}
	}
	return nil
}

// treeRemoval is the state of one call of RemoveTree.
type treeRemoval struct {
	ctx   context.Context
	top   int // the folder that holds the tree; stays open
	at    int // the folder that is being emptied
	root  int // the folder that is removed
	moved int // how many were moved up into it
	above []aboveFolder

	gone   int64
	report func(int64)
}

// aboveFolder is an ancestor of the folder that is being emptied, and the name in it that
// leads there.
type aboveFolder struct {
	dev, ino uint64
	name     string
}

// down makes the child folder name the current one.
func (r *treeRemoval) down(name string) error {
	var st unix.Stat_t
	if err := unix.Fstat(r.at, &st); err != nil {
		return err
	}
	child, err := openWide(r.at, name)
	if err != nil {
		return err
	}
	closeUnless(r.at, r.top)
	r.at = child
	r.above = append(r.above, aboveFolder{st.Dev, st.Ino, name})
	return nil
}

// step removes all names from the current folder. At a folder that is not empty it enters
// that one, or moves it up if it lies deep; once the current folder is empty it removes
// it from its parent.
func (r *treeRemoval) step() error {
	if err := contextError(r.ctx); err != nil {
		return err
	}
	names, err := readNames(r.at, maxNames)
	if err != nil {
		return err
	}
	fault.Point("remove.folder")
	for _, name := range names {
		err := unix.Unlinkat(r.at, name, 0)
		if err == unix.EISDIR {
			err = unix.Unlinkat(r.at, name, unix.AT_REMOVEDIR)
			if err == unix.ENOTEMPTY || err == unix.EEXIST {
				if len(r.above) < shallow || !r.moveUp(name) {
					return r.down(name)
				}
				continue
			}
		}
		if err != nil && err != unix.ENOENT {
			return err
		}
		r.count()
	}
	return r.up()
}

func (r *treeRemoval) count() {
	if r.gone++; r.report != nil {
		r.report(r.gone)
	}
}

// shallow is the depth up to which folders are emptied in place; deeper ones are moved up
// first.
const shallow = 64

// moveUp moves a folder of the current one into the removed root under a new name, and
// reports whether it succeeded.
func (r *treeRemoval) moveUp(name string) bool {
	for range 1000 {
		r.moved++
		to := ".choir-removed-" + strconv.Itoa(r.moved)
		err := RenameNew(r.at, name, r.root, to)
		if err != unix.EEXIST {
			return err == nil
		}
	}
	return false
}

// up makes the parent the current folder and removes the emptied folder from it. A parent
// that is not the folder passed on the way down is code conflict.
func (r *treeRemoval) up() error {
	last := r.above[len(r.above)-1]
	parent := r.top
	if len(r.above) > 1 {
		var err error
		if parent, err = unix.Openat(r.at, "..", openDir, 0); err != nil {
			return err
		}
	}
	closeUnless(r.at, r.top)
	r.at = parent
	var st unix.Stat_t
	if err := unix.Fstat(parent, &st); err != nil {
		return err
	}
	if st.Dev != last.dev || st.Ino != last.ino {
		return choir.Refuse("snapshot.remove", choir.ReasonRemovedMoved)
	}
	r.above = r.above[:len(r.above)-1]
	err := unix.Unlinkat(parent, last.name, unix.AT_REMOVEDIR)
	switch err {
	case nil:
		r.count()
	case unix.ENOTEMPTY: // somebody writes to it
		return r.down(last.name)
	case unix.ENOENT:
		return nil
	}
	return err
}
