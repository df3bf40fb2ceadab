package snapshot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// Limits bound what one snapshot holds, so that no workspace can prevent a scan from
// ending or fill the host's disk; zero means no limit. Paths beyond them are left out of
// the snapshot, listed in the result, and stay on disk.
type Limits struct {
	FileBytes int64 // length of one file, holes included
	TreeBytes int64 // content of all files
	Entries   int64 // paths
}

// Progress is the progress of a scan.
type Progress struct {
	Entries int64 // paths looked at
	Bytes   int64 // content read
}

// weighFrom is the number of bytes of content that may be read before the whole tree is
// weighed once, without reading content.
const weighFrom = 1 << 30

// tally counts the paths and bytes of one run.
type tally struct {
	entries atomic.Int64
	bytes   atomic.Int64 // of all files
	read    atomic.Int64 // of files whose content is read
}

// overLimit is the error that ends a run: the tree exceeds a limit, or must be weighed
// before more of it is read. why is the reason to report for the paths that the next run
// leaves out.
type overLimit struct{ why choir.LeftReason }

func (o overLimit) Error() string { return "the workspace is over a limit: " + string(o.why) }

// limitExceeded reports whether a run ended with overLimit, and returns its reason.
func limitExceeded(err error) (choir.LeftReason, bool) {
	var o overLimit
	if errors.As(err, &o) {
		return o.why, true
	}
	return "", false
}

// contextError returns the error of a context that has ended, as code timeout or
// cancelled_by_you; nil while it has not.
func contextError(ctx context.Context) error {
	switch err := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return choir.Wrap("snapshot.scan", choir.CodeTimeout, err, "the workspace could not be read in time")
	default:
		return choir.Wrap("snapshot.scan", choir.CodeCancelled, err, "ended")
	}
}

// mostNames returns the maximal number of names in one folder.
func (s *scan) mostNames() int64 {
	if limit := s.shared.cfg.Limits.Entries; limit > 0 {
		return limit
	}
	return maxNames
}

// countEntries adds n names of a folder to the run's count and reports the progress.
// Beyond the entries limit it returns overLimit.
func (s *scan) countEntries(n int64) error {
	sum, limit := s.shared.tally.entries.Add(n), s.shared.cfg.Limits.Entries
	if limit > 0 && sum > limit {
		return overLimit{choir.LeftTooMany}
	}
	s.report()
	return nil
}

// report passes the progress of the run to ScanConfig.Report, if set.
func (s *scan) report() {
	if s.shared.cfg.Report != nil {
		s.shared.cfg.Report(Progress{Entries: s.shared.tally.entries.Load(), Bytes: s.shared.tally.read.Load()})
	}
}

// countFile adds a file's length, holes included, to the run's bytes. If the file must be
// left out it leaves it out and returns over, and changed if the last snapshot had it.
func (s *scan) countFile(n *node, st *unix.Stat_t) (over, changed bool, err error) {
	limits := &s.shared.cfg.Limits
	why := choir.LeftReason("")
	switch {
	case st.Size > MaxFileBytes, limits.FileBytes > 0 && st.Size > limits.FileBytes:
		why = choir.LeftFileTooLarge
	case s.shared.largest > 0 && st.Size > s.shared.largest:
		why = choir.LeftTreeTooLarge
	case len(s.shared.whole) > 0:
		why = s.shared.whole[s.childPath(n.Name)]
	}
	if why != "" {
		changed = n.Kind != 0
		return true, changed, s.withName(n.Name, func() error { s.leaveOut(n, why, st.Size); return nil })
	}
	if s.bytes += st.Size; s.bytes > weighFrom {
		err = s.countBytes()
	}
	return false, false, err
}

// countBytes adds the bytes that countFile counted in this worker to the run's sum.
// Beyond the limit it returns overLimit.
func (s *scan) countBytes() error {
	sum, limit := s.shared.tally.bytes.Add(s.bytes), s.shared.cfg.Limits.TreeBytes
	s.bytes = 0
	if limit > 0 && sum > limit {
		return overLimit{choir.LeftTreeTooLarge}
	}
	return nil
}

// countRead adds size bytes of content that will be read. It returns overLimit if the
// tree must be weighed before more is read.
func (s *scan) countRead(size int64) error {
	limits := s.shared.cfg.Limits
	if sum := s.shared.tally.read.Add(size); sum > weighFrom && !s.shared.looked && limits.TreeBytes > 0 {
		return overLimit{choir.LeftTreeTooLarge}
	}
	s.report()
	return nil
}

// childPath returns the raw path of a name in the current folder.
func (s *scan) childPath(name string) string {
	if len(s.path) == 0 {
		return name
	}
	return string(s.path) + "/" + name
}

// longestFolder is the maximal length of a folder's escaped path, chosen so that every
// possible name in it has a path of at most MaxPath.
const longestFolder = MaxPath - 1 - 3*MaxName

// Removing is the folder in the root that holds files while they are removed for good. No
// snapshot contains it.
const Removing = ".choir-removing"

// leavesFolder returns the reason to leave out the current folder as a whole; empty if it
// is not left out.
func (s *scan) leavesFolder() choir.LeftReason {
	if string(s.path) == Removing {
		return choir.LeftRemoving
	}
	if s.depth >= MaxDepth || len(s.path) > longestFolder/3 && len(EscapePath(s.path)) > longestFolder {
		return choir.LeftTooDeep
	}
	if len(s.shared.whole) > 0 {
		return s.shared.whole[string(s.path)]
	}
	return ""
}

func (r *Result) sortLeft() {
	slices.Sort(r.Left)
	r.Left = slices.Compact(r.Left)
	slices.SortStableFunc(r.Over, func(a, b choir.LeftPath) int { return strings.Compare(a.Path, b.Path) })
	r.Over = slices.CompactFunc(r.Over, func(a, b choir.LeftPath) bool { return a.Path == b.Path })
}
