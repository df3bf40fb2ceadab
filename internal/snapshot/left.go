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

// cacheNames are folders that tools fill with what they can make again.
var cacheNames = []string{
	"node_modules", "__pycache__", ".cache", ".venv", ".tox", ".gradle", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".parcel-cache", ".turbo",
}

// A folder with this file, which begins with this line, says itself that it is a
// cache: https://bford.info/cachedir/. Cargo, pip, pytest and many others write it.
const (
	cacheTag       = "CACHEDIR.TAG"
	cacheSignature = "Signature: 8a477f597d28d172789f06886806bc55"
)

// errOver says that a cache has more than its limit.
var errOver = errors.New("a cache over the limit")

// purse is what a cache may still have, in bytes, while it is scanned, and in
// names while it is weighed.
type purse struct{ left, names atomic.Int64 }

func newPurse(bytes, names int64) *purse {
	p := &purse{}
	p.left.Store(bytes)
	p.names.Store(names)
	return p
}

// spend takes from the purse; errOver when it is empty. A nil purse is no limit.
func (p *purse) spend(size int64) error {
	if p != nil && p.left.Add(-size) < 0 {
		return errOver
	}
	return nil
}

// cache is a purse for a folder, open as fd, that is a cache and lies in none;
// what a folder that no scan has seen holds is counted first, so that a large one
// is not read for nothing.
func (s *scan) cache(fd int, n *node) (*purse, error) {
	limit := s.shared.cfg.CacheLimit
	if limit <= 0 || s.purse != nil || !isCache(fd, n) {
		return nil, nil
	}
	p := newPurse(limit, s.mostNames())
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

// weigh spends what the files below a folder have. What cannot be looked at
// weighs nothing: the scan says what is wrong with it.
func weigh(fd int, p *purse, depth int) error {
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

func weighFolder(fd int, name string, p *purse, depth int) error {
	child, err := openAnyway(fd, name, openDir)
	if err != nil {
		return nil
	}
	defer unix.Close(child)
	return weigh(child, p, depth)
}

// leaveOut leaves a path out: it is remembered like a socket, which is in no
// snapshot and stays where it is. No reason is that of a cache.
func (s *scan) leaveOut(n *node, why choir.LeftReason, size int64) {
	*n = node{Entry: Entry{Name: n.Name}, left: true}
	path := EscapePath(s.path)
	s.result.Left = append(s.result.Left, path)
	if why != "" {
		s.result.Over = append(s.result.Over, choir.LeftPath{Path: path, Reason: why, Size: size})
	}
}

// hollow reports whether a folder holds nothing but caches that are left out, and
// such folders. It is left out too, so that taking back all that a project has
// around its cache gives the tree from before the project.
func (f *folder) hollow() bool {
	left := false
	for i := range f.nodes {
		if f.nodes[i].Kind != 0 {
			return false
		}
		left = left || f.nodes[i].left
	}
	return left
}

// leftOut are paths that are in no snapshot, sorted.
type leftOut []string

// has reports whether a path is one of them.
func (l leftOut) has(path string) bool {
	_, ok := slices.BinarySearch(l, path)
	return ok
}

// below reports whether one of them lies below a path.
func (l leftOut) below(path string) bool {
	if path == "" {
		return len(l) > 0
	}
	i, _ := slices.BinarySearch(l, path+"/")
	return i < len(l) && strings.HasPrefix(l[i], path+"/")
}
