package snapshot

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// folder is the scanner's cache entry of a directory.
type folder struct {
	mode    uint32
	mtime   Stamp
	ctime   Stamp
	ino     uint64
	listed  Stamp // start of the scan that listed it; zero when none did
	nodes   []node
	beyond  []string // of a crowded root folder: the first names that are left out
	sum     Sum
	written bool // sum is of what is here

	files, bytes int64 // below
}

// find returns the cached node with a name in the folder, or nil.
func (f *folder) find(name string) *node {
	i, ok := slices.BinarySearchFunc(f.nodes, name, func(n node, name string) int { return strings.Compare(n.Name, name) })
	if !ok {
		return nil
	}
	return &f.nodes[i]
}

// node is the scanner's cache entry of one path. A zero Kind is a socket, a device or a
// path that snapshots leave out, cached so that the folder need not be listed again.
type node struct {
	Entry
	ctime Stamp
	ino   uint64
	read  Stamp // start of the scan that read it; zero when none did
	dir   *folder
	left  bool // a cache that is left out, or a folder with nothing but such; its Kind is zero
}

// granularity is the maximal lag of a file system's clock in nanoseconds: one tick of the
// slowest kernel.
const granularity = 10e6 // ns

// racy reports whether a path may have changed after a scan that started at read had read
// it, without a change of its ctime. Such a path must be read again.
func racy(ctime, read Stamp) bool {
	margin := int64(granularity)
	if ctime.Nsec == 0 {
		margin = 2e9 // it may be a file system that counts in seconds
	}
	return !ctime.before(read.minus(margin))
}

func (s Stamp) before(o Stamp) bool {
	return s.Sec < o.Sec || s.Sec == o.Sec && s.Nsec < o.Nsec
}

// minus returns the stamp ns nanoseconds earlier.
func (s Stamp) minus(ns int64) Stamp {
	s.Sec -= ns / 1e9
	rest := int64(s.Nsec) - ns%1e9
	if rest < 0 {
		s.Sec--
		rest += 1e9
	}
	s.Nsec = uint32(rest)
	return s
}

func stampOf(t unix.Timespec) Stamp { return Stamp{Sec: t.Sec, Nsec: uint32(t.Nsec)} }

func (s Stamp) timespec() unix.Timespec { return unix.Timespec{Sec: s.Sec, Nsec: int64(s.Nsec)} }

func kindOf(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return File
	case unix.S_IFDIR:
		return Dir
	case unix.S_IFLNK:
		return Symlink
	case unix.S_IFIFO:
		return Fifo
	}
	return 0
}

// sameAs reports whether a stat result equals the cached one.
func (n *node) sameAs(st *unix.Stat_t) bool {
	return n.ctime == stampOf(st.Ctim) && n.MTime == stampOf(st.Mtim) && n.ino == st.Ino &&
		n.Mode == st.Mode&maxMode && n.Kind == kindOf(st.Mode) && (n.Kind != File || n.Size == st.Size)
}

// encode returns the folder's manifest, encoded from the cached nodes. Nodes without a
// Kind are left out.
func (f *folder) encode() []byte {
	count, size := 0, 0
	for i := range f.nodes {
		if n := &f.nodes[i]; n.Kind != 0 {
			count++
			size += mostEntry + len(n.Name) + len(n.Target)
		}
	}
	b := beginManifest(f.mode, f.mtime, count, size)
	for i := range f.nodes {
		if f.nodes[i].Kind != 0 {
			b = f.nodes[i].append(b)
		}
	}
	return b
}
