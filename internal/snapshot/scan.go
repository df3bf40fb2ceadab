package snapshot

import (
	"context"
	"time"

	"choiros/internal/choir"
)

// ScanConfig of a Scanner; the zero value is usable.
type ScanConfig struct {
	// Now is the clock that stamps files; default the kernel's coarse clock,
	// which is what file systems use.
	Now func() time.Time
	// Workers hash and stat at once; default 2.
	Workers int
}

// Scanner watches one tree through a stat cache. It is used by one goroutine at
// a time.
type Scanner struct{}

// Result of a scan.
type Result struct {
	Root     choir.Digest
	Files    int64    // files, links and fifos in the tree
	Bytes    int64    // content in the tree
	Hashed   int64    // files whose content was read
	Skipped  []string // sockets and devices, which no snapshot holds
	Unstable []string // files that changed each time they were read; the last reading was taken
}

// NewScanner makes a scanner for the tree at root with an empty cache. It does
// no I/O.
func NewScanner(root string, cfg ScanConfig) *Scanner { return &Scanner{} }

// Scan brings the cache up to date and returns the tree's digest. Manifests and
// contents that the scanner has not seen at their path before are given to emit
// (which may be nil), one at a time, contents before the manifests that name
// them; an error of emit ends the scan.
//
// Errors: code forbidden for a path that cannot be read, too_large beyond the
// limits of this package; both carry the escaped path.
func (s *Scanner) Scan(ctx context.Context, emit func(Object) error) (Result, error) {
	return Result{}, choir.E("snapshot.scan", choir.CodeUnavailable, "not built yet")
}

// Fetch emits the named objects of the tree as the last scan saw it, and
// returns those that are not in it (any more).
func (s *Scanner) Fetch(ctx context.Context, want []choir.Digest, emit func(Object) error) ([]choir.Digest, error) {
	return nil, choir.E("snapshot.fetch", choir.CodeUnavailable, "not built yet")
}
