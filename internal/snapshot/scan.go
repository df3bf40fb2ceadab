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

// ScanConfig configures a Scanner; the zero value is usable.
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

// Scanner computes the snapshots of one tree with a cache of stat results. It is used by
// one goroutine at a time. It relies on the kernel's timestamps: a write through a memory
// mapping is seen only after the kernel has written the page back.
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

// Result is the result of a scan.
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

// NewScanner returns a scanner of the tree at the path root, with an empty cache. It does
// no I/O.
func NewScanner(root string, cfg ScanConfig) *Scanner {
	if cfg.Now == nil {
		cfg.Now = coarseNow
	}
	return &Scanner{path: root, cfg: cfg, root: &folder{}}
}

// LimitCaches sets ScanConfig.CacheLimit, in bytes, for later scans; 0 means no limit.
func (s *Scanner) LimitCaches(bytes int64) { s.cfg.CacheLimit = bytes }

// Limit sets ScanConfig.Limits for later scans. A change makes the next scan decide anew
// what to leave out.
func (s *Scanner) Limit(l Limits) {
	if l != s.cfg.Limits {
		s.cfg.Limits, s.weighed = l, Stamp{}
	}
}

// ReportTo sets ScanConfig.Report for later scans; nil means none.
func (s *Scanner) ReportTo(report func(Progress)) { s.cfg.Report = report }

func coarseNow() Stamp {
	var t unix.Timespec
	// It cannot fail for a clock that every kernel has; a zero time would only
	// make everything racy.
	unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t)
	return stampOf(t)
}

// Scan updates the cache and returns the tree's digest and counts. It calls emit (which
// may be nil) with each manifest and content that is new at its path, one at a time,
// contents before the manifests that name them. An error of emit ends the scan; what was
// not emitted must be fetched later, see Fetch.
//
// Paths beyond the limits, and large files that keep changing, are left out and listed in
// the result. Errors: forbidden if the root cannot be opened; cancelled_by_you or timeout
// if ctx ends, with the escaped path.
func (s *Scanner) Scan(ctx context.Context, emit func(Object) error) (Result, error) {
	fd, err := openRoot(s.path)
	if err != nil {
		return Result{}, err
	}
	defer unix.Close(fd)
	return s.run(ctx, fd, emit, nil)
}

// run scans the tree open as fd, or only the folders in only. While the tree exceeds a
// limit it leaves more paths out and starts again.
func (s *Scanner) run(ctx context.Context, fd int, emit func(Object) error, only []string) (Result, error) {
	s.forgetWeights()
	s.forgetGone(fd)
	for round := 0; ; round++ {
		result, err := s.once(ctx, fd, emit, only)
		why, over := limitExceeded(err)
		if !over {
			return result, pathError("list", "", err)
		}
		if err := s.leaveOutMore(ctx, fd, why, round); err != nil {
			return Result{}, err
		}
	}
}

// once makes one attempt of run. It returns overLimit if the tree exceeds a limit.
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

// addUnseen adds to the result the left-out paths of the last scan that lie outside the
// folders in only, which this scan did not visit.
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

// scan is the part of a run that one worker does.
type scan struct {
	ctx    context.Context
	rootFD int
	start  Stamp
	shared *shared
	path   []byte  // raw, of what is looked at
	budget *budget // what the cache that is looked at may still have; nil outside of one
	depth  int
	buf    []byte
	bytes  int64 // of files that are not in the run's sum yet
	result Result
	// everything says that all of the tree was looked at, though only a part was asked
	// for.
	everything bool
}

// shared is the state that all workers of one run use.
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

// withName calls look while name is appended to the current path, and returns its error.
func (s *scan) withName(name string, look func() error) error {
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

// folder updates the cache entry f of the folder open as fd, with everything below, and
// reports whether its digest changed. ENOENT, unwrapped, means that the folder was
// removed meanwhile.
func (s *scan) folder(fd int, f *folder) (bool, error) {
	if err := contextError(s.ctx); err != nil {
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

// nodes updates all nodes of a folder, drops those whose path is gone, and recounts the
// folder's files and bytes. It reports whether an entry changed.
func (s *scan) nodes(fd int, f *folder) (bool, error) {
	changed, err := s.scanParallel(fd, f.nodes)
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

// scanNodes updates a slice of nodes and reports whether an entry changed. A node whose
// path is gone gets an empty name.
func (s *scan) scanNodes(fd int, nodes []node) (bool, error) {
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

// seal encodes the folder's manifest and emits it if its digest is new. It reports
// whether the digest changed. A manifest above MaxManifestBytes is code too_large.
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
	if err := s.emitOnce(Object{Digest: choir.DigestFrom(sum), Manifest: true, Size: int64(len(raw)), Content: raw}, sum); err != nil {
		return false, err
	}
	f.sum, f.written = sum, true
	return true, nil
}

// emitOnce passes an object to emit unless this run already has.
func (s *scan) emitOnce(o Object, sum Sum) error {
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

// list reads the names in the folder open as fd and updates f.nodes, keeping the cached
// nodes of known names. It reports whether the set of names changed.
func (s *scan) list(fd int, f *folder) (bool, error) {
	names, err := readNames(fd, s.mostNames())
	f.beyond = nil
	if err == errCrowded && len(s.path) == 0 {
		c := crowded{known: f, needed: s.shared.needed, most: s.mostNames()}
		err = c.choose(s.ctx, fd)
		names, f.beyond = c.names, c.beyond
	}
	if err != nil {
		return false, s.failUnlessGone("list", err) // the kernel lists no folder that was removed
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
