package snapshot

import (
	"context"
	"maps"
	"math/bits"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

const (
	// reweighAfter is after how many seconds it is found anew what of a tree that
	// is too much is left out.
	reweighAfter = 60
	// maxRounds bounds how often a run begins again to leave something more out.
	maxRounds = 64
	// heavyShare of a limit makes a folder worth to be left out whole: 1/heavyShare.
	heavyShare = 8
	// leastLarge is the least length from which files are left out one by one when
	// the tree has too many bytes; a tree of many smaller ones loses folders.
	leastLarge = 1 << 20
)

// forgetWeights drops what was found too long ago.
func (s *Scanner) forgetWeights() {
	now := s.cfg.Now()
	if s.weighed != (Stamp{}) && (s.weighed.Sec+reweighAfter < now.Sec || now.before(s.weighed)) {
		s.whole, s.largest, s.weighed, s.restless = nil, 0, Stamp{}, nil
	}
}

// forgetGone drops the paths that are left out and are no more there, because
// something else may come to their place.
func (s *Scanner) forgetGone(fd int) {
	for path := range s.whole {
		var st unix.Stat_t
		if err := unix.Fstatat(fd, path, &st, unix.AT_SYMLINK_NOFOLLOW); err == unix.ENOENT || err == unix.ENOTDIR {
			whole := maps.Clone(s.whole) // a run may still have the old one
			delete(whole, path)
			s.whole = whole
		}
	}
}

// LeaveOut leaves a path (raw) out of the runs that follow, for a while.
func (s *Scanner) LeaveOut(path string, why choir.LeftReason) {
	whole := map[string]choir.LeftReason{path: why}
	for p, w := range s.whole {
		whole[p] = w
	}
	s.whole = whole
	if s.weighed == (Stamp{}) {
		s.weighed = s.cfg.Now()
	}
}

// maxLeaveOut bounds the paths that one call of LeaveOutContent finds; the next
// finds more.
const maxLeaveOut = 2000

// LeaveOutContent leaves the files with some contents out, as LeaveOut does.
func (s *Scanner) LeaveOutContent(contents []choir.Digest, why choir.LeftReason) {
	out := map[Sum]bool{}
	found := 0
	for _, d := range contents {
		if sum, ok := d.Bytes(); ok {
			out[sum] = true
		}
	}
	var visit func(f *folder, path string)
	visit = func(f *folder, path string) {
		for i := range f.nodes {
			switch n := &f.nodes[i]; {
			case n.Kind == Dir:
				visit(n.dir, path+n.Name+"/")
			case n.Kind == File && out[n.Sum] && found < maxLeaveOut:
				s.LeaveOut(path+n.Name, why)
				found++
			}
		}
	}
	visit(s.root, "")
}

// lighten weighs the tree without reading content and decides what more is left
// out, so that the rest is within the limits: the longest files when there are too
// many bytes, and otherwise the smallest folder that holds much of what is too
// much. Error too_large when that does not help.
func (s *Scanner) lighten(ctx context.Context, fd int, why choir.LeftReason, round int) error {
	w := &weighing{ctx: ctx, root: s.root, limits: s.cfg.Limits, whole: s.whole, largest: s.largest, cache: s.cfg.CacheLimit}
	total, _, err := w.folder(fd, "", 0)
	if err != nil && err != errOver {
		return err
	}
	s.weighed = s.cfg.Now()
	if err == nil && !w.over(total) && round < maxRounds {
		return nil // it was to be weighed, and is not too much
	}
	if round < maxRounds && err == nil && total.entries <= w.most() {
		if largest := w.longest(total.bytes); largest >= leastLarge {
			s.largest = largest
			return nil
		}
	}
	heavy := w.heavy.path
	if heavy == "" {
		heavy = w.top.path
	}
	if heavy == "" || round >= maxRounds {
		return choir.E("snapshot.scan", choir.CodeTooLarge, "the workspace goes on having more than %d paths, or more bytes than it may, whatever is left out", w.most()).
			WithRemedy("stop what fills it, remove some of it, or raise storage.entries and storage.workspace_mb")
	}
	s.LeaveOut(heavy, why)
	return nil
}

// weight is what a path and all below it come to.
type weight struct{ entries, bytes int64 }

// weighed is a path that may be left out, and how much that is.
type weighed struct {
	path string
	weight
}

// weighing is one look at a tree that reads names and lengths only.
type weighing struct {
	ctx     context.Context
	root    *folder // as the last scan saw it
	limits  Limits
	whole   map[string]choir.LeftReason
	largest int64
	cache   int64
	seen    int64     // paths so far
	sizes   [64]int64 // bytes of files, by the number of bits of their length
	heavy   weighed   // the heaviest of the smallest folders that are worth it
	top     weighed   // the heaviest path right in the root
}

func (w *weighing) most() int64 {
	if w.limits.Entries > 0 {
		return w.limits.Entries
	}
	return MaxEntries
}

// over reports whether a tree of this weight is too much.
func (w *weighing) over(t weight) bool {
	return t.entries > w.most() || w.limits.TreeBytes > 0 && t.bytes > w.limits.TreeBytes
}

// worth reports whether a folder of this weight is worth to be left out whole.
func (w *weighing) worth(t weight) bool {
	return t.entries > w.most()/heavyShare || w.limits.TreeBytes > 0 && t.bytes > w.limits.TreeBytes/heavyShare
}

// longest is the most bytes that a file may have so that the rest of a tree of so
// many bytes is within the limit: the power of two below that.
func (w *weighing) longest(total int64) int64 {
	for b := len(w.sizes) - 1; b > 0; b-- {
		if total -= w.sizes[b]; total <= w.limits.TreeBytes {
			return 1<<(b-1) - 1
		}
	}
	return 0
}

// folder weighs an open folder and reports whether one in it is worth to be left
// out; errOver when the look ended because there are too many paths. What was seen
// until then counts.
func (w *weighing) folder(fd int, path string, depth int) (t weight, worth bool, err error) {
	if err := ended(w.ctx); err != nil {
		return t, false, err
	}
	names, err := readNames(fd, w.most())
	if err == errCrowded && path == "" {
		c := crowded{known: w.root, most: w.most()}
		err = c.choose(w.ctx, fd)
		names = c.names
	}
	if err != nil {
		return t, false, nil // the scan says what is wrong with it, or leaves it out
	}
	t.entries = int64(len(names))
	if w.seen += t.entries; w.seen > w.most() {
		return t, false, errOver
	}
	for _, name := range names {
		below := name
		if path != "" {
			below = path + "/" + name
		}
		sub, was, serr := w.path(fd, name, below, depth)
		t.entries += sub.entries
		t.bytes += sub.bytes
		worth = worth || was
		if path == "" && sub.share(w) > w.top.share(w) {
			w.top = weighed{below, sub}
		}
		if err = serr; err != nil {
			break
		}
	}
	return t, worth, err
}

// path weighs one path, and notes a folder that is worth to be left out and has
// none in it that is.
func (w *weighing) path(dir int, name, path string, depth int) (t weight, worth bool, err error) {
	var st unix.Stat_t
	if w.whole[path] != "" || unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return t, false, nil
	}
	switch kindOf(st.Mode) {
	case File:
		if w.limits.FileBytes > 0 && st.Size > w.limits.FileBytes || w.largest > 0 && st.Size > w.largest {
			return t, false, nil
		}
		w.sizes[bits.Len64(uint64(st.Size))&63] += st.Size
		return weight{bytes: st.Size}, false, nil
	case Dir:
		return w.sub(dir, name, path, depth)
	}
	return t, false, nil
}

func (w *weighing) sub(dir int, name, path string, depth int) (t weight, worth bool, err error) {
	fd, err := openAnyway(dir, name, openDir)
	if err != nil || depth >= MaxDepth {
		if err == nil {
			unix.Close(fd)
		}
		return t, false, nil
	}
	defer unix.Close(fd)
	if w.isLeftCache(fd, name) {
		return t, false, nil
	}
	t, inside, err := w.folder(fd, path, depth+1)
	if inside || !w.worth(t) {
		return t, inside, err
	}
	if t.share(w) > w.heavy.share(w) {
		w.heavy = weighed{path, t}
	}
	return t, true, err
}

// share is how much of a limit a weight is, in thousandths.
func (t weight) share(w *weighing) int64 {
	share := t.entries * 1000 / w.most()
	if w.limits.TreeBytes > 0 {
		share = max(share, int64(float64(t.bytes)*1000/float64(w.limits.TreeBytes)))
	}
	return share
}

// isLeftCache reports whether a folder is a cache that is left out anyway.
func (w *weighing) isLeftCache(fd int, name string) bool {
	if w.cache <= 0 || !isCache(fd, &node{Entry: Entry{Name: name}, dir: &folder{}}) {
		return false
	}
	return weigh(fd, newPurse(w.cache, w.most()), 0) != nil
}
