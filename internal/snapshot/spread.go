package snapshot

import (
	"slices"
	"sync"
)

const (
	helpers = 1   // beside the caller: the kernel's part of a scan gains from two
	portion = 256 // paths that are worth a helper
)

// weight returns the approximate number of paths to scan for a node. A node that was
// never scanned counts as several, because it may be a large folder.
func (n *node) weight() int {
	switch {
	case n.Kind == 0:
		return portion / 16
	case n.Kind == Dir:
		return 1 + int(min(n.dir.files, portion))
	}
	return 1
}

// scanParallel updates nodes in portions, some of them in free helper goroutines, and
// waits for all. It reports whether an entry changed.
func (s *scan) scanParallel(fd int, nodes []node) (bool, error) {
	var parts []*part
	var running sync.WaitGroup
	for len(nodes) > 0 {
		n := portionSize(nodes)
		p := &part{}
		parts = append(parts, p)
		mine := nodes[:n]
		nodes = nodes[n:]
		if len(nodes) == 0 || !s.startHelper(&running, p, fd, mine) {
			p.changed, p.err = s.scanNodes(fd, mine)
		}
	}
	running.Wait()
	changed := false
	for _, p := range parts {
		if p.err != nil {
			return false, p.err
		}
		changed = changed || p.changed
		s.result.add(&p.result)
	}
	return changed, nil
}

// part is the result of one portion of nodes.
type part struct {
	changed bool
	err     error
	result  Result // of a helper
}

// portionSize returns the number of leading nodes that together have the weight of one
// portion of work, or len(nodes) if they have less.
func portionSize(nodes []node) int {
	sum := 0
	for i := range nodes {
		if sum += nodes[i].weight(); sum >= portion {
			return i + 1
		}
	}
	return len(nodes)
}

// startHelper starts a helper goroutine that scans nodes into p. It reports false, and
// starts none, if all helpers are busy.
func (s *scan) startHelper(running *sync.WaitGroup, p *part, fd int, nodes []node) bool {
	select {
	case s.shared.helpers <- struct{}{}:
	default:
		return false
	}
	h := &scan{ctx: s.ctx, rootFD: s.rootFD, start: s.start, shared: s.shared, path: slices.Clone(s.path), depth: s.depth, budget: s.budget}
	running.Go(func() {
		p.changed, p.err = h.scanNodes(fd, nodes)
		p.result = h.result
		<-s.shared.helpers
	})
	return true
}

func (r *Result) add(o *Result) {
	r.Hashed += o.Hashed
	r.Skipped = append(r.Skipped, o.Skipped...)
	r.Left = append(r.Left, o.Left...)
	r.Over = append(r.Over, o.Over...)
	r.Unstable = append(r.Unstable, o.Unstable...)
}
