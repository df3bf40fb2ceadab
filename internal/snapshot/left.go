package snapshot

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// cacheNames are the names of folders in which tools keep files that they can produce
// again.
var cacheNames = []string{
	"node_modules", "__pycache__", ".cache", ".venv", ".tox", ".gradle", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".parcel-cache", ".turbo",
}

// cacheTag is the name of a file that marks its folder as a cache if it begins with
// cacheSignature: https://bford.info/cachedir/. Cargo, pip, pytest and many others write
// it.
const (
	cacheTag       = "CACHEDIR.TAG"
	cacheSignature = "Signature: 8a477f597d28d172789f06886806bc55"
)

// errOver is the error for a cache folder that exceeds its limit.
var errOver = errors.New("a cache over the limit")

// budget is the remaining allowance of a cache folder: bytes while it is scanned, bytes
// and names while it is weighed.
type budget struct{ left, names atomic.Int64 }

func newBudget(bytes, names int64) *budget {
	p := &budget{}
	p.left.Store(bytes)
	p.names.Store(names)
	return p
}

// spend subtracts size bytes from the budget. It returns errOver once the budget is
// negative. A nil budget has no limit.
func (p *budget) spend(size int64) error {
	if p != nil && p.left.Add(-size) < 0 {
		return errOver
	}
	return nil
}

// cache returns the budget of a cache folder, open as fd, that lies in no other cache;
// nil for a folder that is no cache, and without a limit. A folder that was never scanned
// is weighed first, so that a large one is refused with errOver before its files are
// read.
func (s *scan) cache(fd int, n *node) (*budget, error) {
	limit := s.shared.cfg.CacheLimit
	if limit <= 0 || s.budget != nil || !isCache(fd, n) {
		return nil, nil
	}
	p := newBudget(limit, s.mostNames())
	if !n.dir.written {
		if err := weigh(fd, p, 0); err != nil {
			return nil, err
		}
		p.left.Store(limit)
	}
	return p, nil
}

func isCache(fd int, n *node) bool {
	if slices.Contains(cacheNames, n.Name) {
		return true
	}
	if n.dir.written && n.dir.find(cacheTag) == nil {
		return false
	}
	tag, err := unix.Openat(fd, cacheTag, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(tag)
	head := make([]byte, len(cacheSignature))
	got, err := unix.Read(tag, head)
	return err == nil && got == len(head) && bytes.Equal(head, []byte(cacheSignature))
}

// weigh spends the budget for all names and file bytes below the open folder fd, which
// lies depth folders below the cache. It returns errOver if they exceed it. Paths that
// cannot be read count nothing; the scan reports their errors.
func weigh(fd int, p *budget, depth int) error {
	names, err := readNames(fd, maxNames)
	if err == errCrowded || p.names.Add(-int64(len(names))) < 0 {
		return errOver
	}
	if err != nil || depth > MaxDepth {
		return nil
	}
	for _, name := range names {
		var st unix.Stat_t
		if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			continue
		}
		switch kindOf(st.Mode) {
		case File:
			err = p.spend(st.Size)
		case Dir:
			err = weighFolder(fd, name, p, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func weighFolder(fd int, name string, p *budget, depth int) error {
	child, err := openAnyway(fd, name, openDir)
	if err != nil {
		return nil
	}
	defer unix.Close(child)
	return weigh(child, p, depth)
}

// leaveOut excludes the current path from the snapshot: its node loses its Kind, as a
// socket's, and the result lists the path. An empty why means a cache over its limit; any
// other reason is reported with size in bytes.
func (s *scan) leaveOut(n *node, why choir.LeftReason, size int64) {
	*n = node{Entry: Entry{Name: n.Name}, left: true}
	path := EscapePath(s.path)
	s.result.Left = append(s.result.Left, path)
	if why != "" {
		s.result.Over = append(s.result.Over, choir.LeftPath{Path: path, Reason: why, Size: size})
	}
}

// holdsOnlyLeftOut reports whether a folder holds at least one path that is left out, and
// nothing that a snapshot has. Such a folder is left out too, so that an undo of a
// project's files, except its cache, gives the tree from before the project.
func (f *folder) holdsOnlyLeftOut() bool {
	left := false
	for i := range f.nodes {
		if f.nodes[i].Kind != 0 {
			return false
		}
		left = left || f.nodes[i].left
	}
	return left
}

// leftOut is a sorted list of the escaped paths that no snapshot holds.
type leftOut []string

// has reports whether the path is in the list.
func (l leftOut) has(path string) bool {
	_, ok := slices.BinarySearch(l, path)
	return ok
}

// below reports whether the list has a path below the given one.
func (l leftOut) below(path string) bool {
	if path == "" {
		return len(l) > 0
	}
	i, _ := slices.BinarySearch(l, path+"/")
	return i < len(l) && strings.HasPrefix(l[i], path+"/")
}
