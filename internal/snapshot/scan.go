package snapshot

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// ScanConfig of a Scanner; the zero value is usable.
type ScanConfig struct {
	// Now is the clock that stamps files; default the kernel's coarse clock,
	// which is what file systems use.
	Now func() Stamp
	// CacheLimit is how many bytes a cache may have, see FORMAT.md, until snapshots
	// leave it out; 0 is no limit.
	CacheLimit int64
	// Limits bound what a snapshot holds.
	Limits Limits
	// Report, when given, is told now and then how far a scan is, from any
	// goroutine of it.
	Report func(Progress)
}

// Scanner watches one tree through a stat cache. It is used by one goroutine at
// a time.
//
// What the kernel does not stamp the scanner cannot see: a write through a
// memory mapping shows only once the kernel has written the page back.
type Scanner struct {
	path string
	cfg  ScanConfig
	root *folder
	left []string         // as the last scan saw it
	over []choir.LeftPath // those of left that are no caches

	// whole are the raw paths that are left out whole because the tree is too much
	// otherwise, and largest the bytes that a file may have for the same reason.
	// Both are found anew after reweighAfter.
	whole   map[string]choir.LeftReason
	largest int64
	weighed Stamp
	// needed are the names in the root folder that the restore under way looks for.
	needed map[string]struct{}
	// restless counts, by raw path, how often a file changed between its hashing and
	// its sending.
	restless map[string]int
}

// Result of a scan.
type Result struct {
	Root     choir.Digest
	Files    int64    // files, links and fifos in the tree
	Bytes    int64    // content in the tree
	Hashed   int64    // files whose content was read
	Skipped  []string // sockets and devices, which no snapshot holds
	Left     []string // paths that this snapshot leaves out, sorted: caches over the limit, and Over
	Over     []choir.LeftPath
	Unstable []string // files that changed each time they were read; the last reading was taken
}

// NewScanner makes a scanner for the tree at root with an empty cache. It does
// no I/O.
func NewScanner(root string, cfg ScanConfig) *Scanner {
	if cfg.Now == nil {
		cfg.Now = coarseNow
	}
	return &Scanner{path: root, cfg: cfg, root: &folder{}}
}

// LimitCaches changes ScanConfig.CacheLimit for the runs that follow.
func (s *Scanner) LimitCaches(bytes int64) { s.cfg.CacheLimit = bytes }

// Limit changes ScanConfig.Limits for the runs that follow.
func (s *Scanner) Limit(l Limits) {
	if l != s.cfg.Limits {
		s.cfg.Limits, s.weighed = l, Stamp{}
	}
}

// ReportTo changes ScanConfig.Report for the runs that follow.
func (s *Scanner) ReportTo(report func(Progress)) { s.cfg.Report = report }

func coarseNow() Stamp {
	var t unix.Timespec
	// It cannot fail for a clock that every kernel has; a zero time would only
	// make everything racy.
	unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t)
	return stampOf(t)
}

// Scan brings the cache up to date and returns the tree's digest. Manifests and
// contents that are new at their path are given to emit (which may be nil), one
// at a time, contents before the manifests that name them; an error of emit
// ends the scan, and what was not emitted then must be fetched.
//
// What is beyond the limits, and a large file that does not hold still, is left
// out and listed in the result.
//
// Errors: forbidden when the root cannot be opened, cancelled_by_you and timeout when ctx ends; they carry
// the escaped path.
func (s *Scanner) Scan(ctx context.Context, emit func(Object) error) (Result, error) {
	fd, err := openRoot(s.path)
	if err != nil {
		return Result{}, err
	}
	defer unix.Close(fd)
	return s.run(ctx, fd, emit, nil)
}

// run scans the tree open as fd, or only some folders of it.
func (s *Scanner) run(ctx context.Context, fd int, emit func(Object) error, only []string) (Result, error) {
	s.forgetWeights()
	s.forgetGone(fd)
	for round := 0; ; round++ {
		result, err := s.once(ctx, fd, emit, only)
		why, over := tooMuch(err)
		if !over {
			return result, pathError("list", "", err)
		}
		if err := s.lighten(ctx, fd, why, round); err != nil {
			return Result{}, err
		}
	}
}

// once is one try of run: it ends with an overLimit when the tree turns out to be
// too much.
func (s *Scanner) once(ctx context.Context, fd int, emit func(Object) error, only []string) (Result, error) {
	sc := &scan{ctx: ctx, rootFD: fd, start: s.cfg.Now(), shared: &shared{
		helpers: make(chan struct{}, helpers), emit: emit, emitted: map[Sum]struct{}{}, cfg: s.cfg,
		whole: s.whole, largest: s.largest, looked: s.weighed != Stamp{}, needed: s.needed,
	}}
	var err error
	if len(only) > 0 {
		err = sc.below(fd, s.root, only)
	} else {
		_, err = sc.folder(fd, s.root)
	}
	if err != nil {
		return Result{}, err
	}
	sc.result.Root = choir.DigestFrom(s.root.sum)
	sc.result.Files, sc.result.Bytes = s.root.files, s.root.bytes
	slices.Sort(sc.result.Skipped)
	if len(only) > 0 && !sc.everything {
		s.addUnseen(&sc.result, only)
	}
	sc.result.sortLeft()
	s.left, s.over = slices.Clone(sc.result.Left), slices.Clone(sc.result.Over)
	return sc.result, nil
}

// addUnseen adds what the last scan left out where this one did not look.
func (s *Scanner) addUnseen(r *Result, only []string) {
	seen := func(path string) bool {
		raw, err := UnescapePath(path)
		return err == nil && slices.ContainsFunc(only, func(o string) bool {
			return string(raw) == o || strings.HasPrefix(string(raw), o+"/")
		})
	}
	for _, path := range s.left {
		if !seen(path) {
			r.Left = append(r.Left, path)
		}
	}
	for _, l := range s.over {
		if !seen(l.Path) {
			r.Over = append(r.Over, l)
		}
	}
}

func openRoot(path string) (int, error) {
	fd, err := openAnyway(unix.AT_FDCWD, path, openDir)
	if err != nil {
		return -1, pathError("open", "", err)
	}
	return fd, nil
}

// scan is one worker's part of a run of Scan.
type scan struct {
	ctx    context.Context
	rootFD int
	start  Stamp
	shared *shared
	path   []byte // raw, of what is looked at
	purse  *purse // what the cache that is looked at may still have; nil outside of one
	depth  int
	buf    []byte
	bytes  int64 // of files that are not in the run's sum yet
	result Result
	// everything says that all of the tree was looked at, though only a part was asked
	// for.
	everything bool
}

// shared is what the workers of one run have in common.
type shared struct {
	helpers chan struct{} // one slot for each helper that may run
	emit    func(Object) error
	cfg     ScanConfig
	whole   map[string]choir.LeftReason // see Scanner
	largest int64                       // see Scanner
	looked  bool                        // the tree was weighed already
	needed  map[string]struct{}         // names in the root folder that a restore looks for
	tally   tally

	// emitting guards emitted and lets one object be emitted at a time, which is
	// what it is for: emit may be slow.
	emitting sync.Mutex
	emitted  map[Sum]struct{}
}

// in looks at something with its name on the path.
func (s *scan) in(name string, look func() error) error {
	before := len(s.path)
	if before > 0 {
		s.path = append(s.path, '/')
	}
	s.path = append(s.path, name...)
	err := look()
	s.path = s.path[:before]
	return err
}

func (s *scan) fail(doing string, err error) error {
	return pathError(doing, EscapePath(s.path), err)
}

// folder brings f, open as fd, up to date and reports whether its sum changed;
// the error ENOENT, unwrapped, means that it was removed meanwhile.
func (s *scan) folder(fd int, f *folder) (bool, error) {
	if err := ended(s.ctx); err != nil {
		return false, err
	}
	s.depth++
	defer func() { s.depth-- }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false, s.fail("stat", err)
	}
	if st.Mode&0o100 == 0 {
		// Its mode keeps its owner from what is in it, and is put back after the look.
		if unix.Fchmod(fd, st.Mode&maxMode|0o100) != nil {
			return false, unix.EACCES
		}
		defer unix.Fchmod(fd, st.Mode&maxMode)
	}
	changed := !f.written || f.mode != st.Mode&maxMode || f.mtime != stampOf(st.Mtim)
	if changed || f.ctime != stampOf(st.Ctim) || f.ino != st.Ino || racy(f.ctime, f.listed) || len(f.beyond) > 0 && s.shared.needed != nil {
		fresh, err := s.list(fd, f)
		if err != nil {
			return false, err
		}
		changed = changed || fresh
		f.mode, f.mtime, f.ctime, f.ino = st.Mode&maxMode, stampOf(st.Mtim), stampOf(st.Ctim), st.Ino
	}
	s.leaveBeyond(f)
	err := s.countEntries(int64(len(f.nodes)))
	below := false
	if err == nil {
		below, err = s.nodes(fd, f)
	}
	if err != nil {
		f.written = false // what changed so far is not in the sum
		return false, err
	}
	if !changed && !below {
		return false, nil
	}
	return s.seal(f)
}

// nodes brings everything in a folder up to date and counts it.
func (s *scan) nodes(fd int, f *folder) (bool, error) {
	changed, err := s.spread(fd, f.nodes)
	if err != nil {
		return false, err
	}
	there := len(f.nodes)
	f.nodes = slices.DeleteFunc(f.nodes, func(n node) bool { return n.Name == "" })
	gone := len(f.nodes) < there
	if gone {
		f.listed = Stamp{} // it changed while it was looked at
	}
	f.recount()
	return changed || gone, nil
}

// some brings a run of nodes up to date; one that is gone loses its name.
func (s *scan) some(fd int, nodes []node) (bool, error) {
	changed := false
	for i := range nodes {
		c, err := s.node(fd, &nodes[i])
		if err == unix.ENOENT {
			nodes[i].Name = ""
			continue
		}
		if err != nil {
			return false, err
		}
		changed = changed || c
	}
	return changed, s.countBytes()
}

func (f *folder) recount() {
	f.files, f.bytes = 0, 0
	for i := range f.nodes {
		f.count(&f.nodes[i])
	}
}

func (f *folder) count(n *node) {
	switch n.Kind {
	case 0:
	case Dir:
		f.files += n.dir.files
		f.bytes += n.dir.bytes
	default:
		f.files++
		f.bytes += n.Size
	}
}

// seal writes the folder's manifest anew.
func (s *scan) seal(f *folder) (bool, error) {
	raw := f.encode()
	if len(raw) > MaxManifestBytes {
		return false, &choir.Error{Op: "snapshot.scan", Code: choir.CodeTooLarge, Path: EscapePath(s.path),
			Msg: "the folder has too many entries for a snapshot"}
	}
	sum := sha256.Sum256(raw)
	if f.written && sum == f.sum {
		return false, nil
	}
	f.written = false
	if err := s.give(Object{Digest: choir.DigestFrom(sum), Manifest: true, Size: int64(len(raw)), Content: raw}, sum); err != nil {
		return false, err
	}
	f.sum, f.written = sum, true
	return true, nil
}

// give emits an object unless this run has.
func (s *scan) give(o Object, sum Sum) error {
	if s.shared.emit == nil {
		return nil
	}
	s.shared.emitting.Lock()
	defer s.shared.emitting.Unlock()
	if _, ok := s.shared.emitted[sum]; ok {
		return nil
	}
	if err := s.shared.emit(o); err != nil {
		return err
	}
	s.shared.emitted[sum] = struct{}{}
	return nil
}

// list reads the names in a folder and keeps what is known of them. It reports
// whether the set of names changed.
func (s *scan) list(fd int, f *folder) (bool, error) {
	names, err := readNames(fd, s.mostNames())
	f.beyond = nil
	if err == errCrowded && len(s.path) == 0 {
		c := crowded{known: f, needed: s.shared.needed, most: s.mostNames()}
		err = c.choose(s.ctx, fd)
		names, f.beyond = c.names, c.beyond
	}
	if err != nil {
		return false, s.vanished("list", err) // the kernel lists no folder that was removed
	}
	slices.Sort(names)
	f.listed = s.start
	if slices.EqualFunc(names, f.nodes, func(name string, n node) bool { return n.Name == name }) {
		return false, nil
	}
	old := f.nodes
	f.nodes = make([]node, len(names))
	for i, name := range names {
		for len(old) > 0 && old[0].Name < name {
			old = old[1:]
		}
		if len(old) > 0 && old[0].Name == name {
			f.nodes[i] = old[0]
		} else {
			f.nodes[i].Name = name
		}
	}
	return true, nil
}
