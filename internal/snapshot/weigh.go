package snapshot

import (
	"context"
	"maps"
	"math/bits"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

const (
	// reweighAfter is the number of seconds after which a scan decides anew which paths
	// of a tree over the limits to leave out.
	reweighAfter = 60
	// maxRounds is the limit on the attempts of one run, each of which leaves out more.
	maxRounds = 64
	// heavyShare defines a folder large enough to be left out as a whole: it has more
	// than 1/heavyShare of a limit.
	heavyShare = 8
	// leastLarge is the minimal length, in bytes, from which single files are left out
	// when the tree has too many bytes; with shorter ones folders are left out.
	leastLarge = 1 << 20
)

// forgetWeights drops the decisions what to leave out once they are older than
// reweighAfter seconds, or lie in the future.
func (s *Scanner) forgetWeights() {
	now := s.cfg.Now()
	if s.weighed != (Stamp{}) && (s.weighed.Sec+reweighAfter < now.Sec || now.before(s.weighed)) {
		s.whole, s.largest, s.weighed, s.restless = nil, 0, Stamp{}, nil
	}
}

// forgetGone removes the left-out paths that do not exist any more, because something
// else may be created in their place.
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

// LeaveOut excludes a raw path from later scans, with a reason, until the decision
// expires, see reweighAfter.
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

// maxLeaveOut is the limit on the paths that one call of LeaveOutContent excludes; the
// next call excludes more.
const maxLeaveOut = 2000

// LeaveOutContent excludes the files with one of the given contents from later scans, see
// LeaveOut. It finds at most maxLeaveOut of them, in the cache.
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

// leaveOutMore weighs the tree without reading content and excludes more paths so that
// the next run keeps the limits: the largest files if there are too many bytes, else the
// smallest folder with a large share of the limit. It returns code too_large if that does
// not help, or if round has reached maxRounds.
func (s *Scanner) leaveOutMore(ctx context.Context, fd int, why choir.LeftReason, round int) error {
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
		return choir.Refuse("snapshot.scan", choir.ReasonWorkspaceTooMuch, choir.TextOf("most", w.most()))
	}
	s.LeaveOut(heavy, why)
	return nil
}

// weight is the number of paths and bytes at and below a path.
type weight struct{ entries, bytes int64 }

// weighed is a path that may be left out, with its weight.
type weighed struct {
	path string
	weight
}

// weighing is one walk over a tree that reads only names and lengths.
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

// over reports whether a tree of this weight exceeds a limit.
func (w *weighing) over(t weight) bool {
	return t.entries > w.most() || w.limits.TreeBytes > 0 && t.bytes > w.limits.TreeBytes
}

// worth reports whether a folder of this weight is large enough to be left out as a
// whole: more than 1/heavyShare of a limit.
func (w *weighing) worth(t weight) bool {
	return t.entries > w.most()/heavyShare || w.limits.TreeBytes > 0 && t.bytes > w.limits.TreeBytes/heavyShare
}

// longest returns the maximal length of a file, one less than a power of two, such that a
// tree of total bytes without its longer files is within the byte limit; 0 if there is
// none.
func (w *weighing) longest(total int64) int64 {
	for b := len(w.sizes) - 1; b > 0; b-- {
		if total -= w.sizes[b]; total <= w.limits.TreeBytes {
			return 1<<(b-1) - 1
		}
	}
	return 0
}

// folder weighs the open folder fd and returns its weight, and in worth whether a folder
// in it is large enough to be left out. errOver means that the walk ended because of too
// many paths; the weight so far counts.
func (w *weighing) folder(fd int, path string, depth int) (t weight, worth bool, err error) {
	if err := contextError(w.ctx); err != nil {
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

// path weighs one path in the open folder dir. It records a folder that is large enough
// to be left out and contains no other such folder.
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

// share returns the weight as a share of the limits, in thousandths: the larger of the
// shares of paths and of bytes.
func (t weight) share(w *weighing) int64 {
	share := t.entries * 1000 / w.most()
	if w.limits.TreeBytes > 0 {
		share = max(share, int64(float64(t.bytes)*1000/float64(w.limits.TreeBytes)))
	}
	return share
}

// isLeftCache reports whether the open folder is a cache over its limit, which scans
// leave out in any case.
func (w *weighing) isLeftCache(fd int, name string) bool {
	if w.cache <= 0 || !isCache(fd, &node{Entry: Entry{Name: name}, dir: &folder{}}) {
		return false
	}
	return weigh(fd, newBudget(w.cache, w.most()), 0) != nil
}
