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

// Limits bound what one snapshot holds, so that no workspace can keep a scan from
// its end or fill the host's disk; zero is no limit. What is beyond them is left
// out, listed in the result, and stays where it is.
type Limits struct {
	FileBytes int64 // length of one file, holes included
	TreeBytes int64 // content of all files
	Entries   int64 // paths
}

// Progress is how far a scan is.
type Progress struct {
	Entries int64 // paths looked at
	Bytes   int64 // content read
}

// weighFrom is how much content may be read before the tree is weighed once as a
// whole, which reads none of it.
const weighFrom = 1 << 30

// tally counts one run.
type tally struct {
	entries atomic.Int64
	bytes   atomic.Int64 // of all files
	read    atomic.Int64 // of files whose content is read
}

// overLimit ends a run: the tree is too much for a snapshot, or must be weighed
// before more of it is read.
type overLimit struct{ why choir.LeftReason }

func (o overLimit) Error() string { return "the workspace is over a limit: " + string(o.why) }

// tooMuch reports whether a run ended because of the limits, and of which.
func tooMuch(err error) (choir.LeftReason, bool) {
	var o overLimit
	if errors.As(err, &o) {
		return o.why, true
	}
	return "", false
}

// ended is the error of a context that has ended.
func ended(ctx context.Context) error {
	switch err := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return choir.Wrap("snapshot.scan", choir.CodeTimeout, err, "the workspace could not be read in time")
	default:
		return choir.Wrap("snapshot.scan", choir.CodeCancelled, err, "ended")
	}
}

// mostNames is how many names a folder may have.
func (s *scan) mostNames() int64 {
	if limit := s.shared.cfg.Limits.Entries; limit > 0 {
		return limit
	}
	return maxNames
}

// countEntries counts the names of a folder.
func (s *scan) countEntries(n int64) error {
	sum, limit := s.shared.tally.entries.Add(n), s.shared.cfg.Limits.Entries
	if limit > 0 && sum > limit {
		return overLimit{choir.LeftTooMany}
	}
	s.report()
	return nil
}

// report tells how far the run is.
func (s *scan) report() {
	if s.shared.cfg.Report != nil {
		s.shared.cfg.Report(Progress{Entries: s.shared.tally.entries.Load(), Bytes: s.shared.tally.read.Load()})
	}
}

// countFile counts a file by its length, holes included, and leaves it out when it
// is too long for a snapshot.
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
		return true, changed, s.in(n.Name, func() error { s.leaveOut(n, why, st.Size); return nil })
	}
	if s.bytes += st.Size; s.bytes > weighFrom {
		err = s.countBytes()
	}
	return false, false, err
}

// countBytes adds what countFile counted to the run's sum.
func (s *scan) countBytes() error {
	sum, limit := s.shared.tally.bytes.Add(s.bytes), s.shared.cfg.Limits.TreeBytes
	s.bytes = 0
	if limit > 0 && sum > limit {
		return overLimit{choir.LeftTreeTooLarge}
	}
	return nil
}

// countRead counts content that is about to be read.
func (s *scan) countRead(size int64) error {
	limits := s.shared.cfg.Limits
	if sum := s.shared.tally.read.Add(size); sum > weighFrom && !s.shared.looked && limits.TreeBytes > 0 {
		return overLimit{choir.LeftTreeTooLarge}
	}
	s.report()
	return nil
}

// childPath is the raw path of a name in the folder that is looked at.
func (s *scan) childPath(name string) string {
	if len(s.path) == 0 {
		return name
	}
	return string(s.path) + "/" + name
}

// longestFolder is how long the escaped path of a folder may be, so that every
// name in it has a path that fits.
const longestFolder = MaxPath - 1 - 3*MaxName

// Removing is the folder of the root in which lies what is being removed for good;
// no snapshot holds it.
const Removing = ".choir-removing"

// leavesFolder is why the folder whose name is on the path is left out whole;
// empty when it is not.
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
