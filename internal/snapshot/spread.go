package snapshot

import (
	"slices"
	"sync"
)

const (
	helpers = 1   // beside the caller: the kernel's part of a scan gains from two
	portion = 256 // paths that are worth a helper
)

// weight is about how many paths a node stands for. What is new may be large.
func (n *node) weight() int {
	switch {
	case n.Kind == 0:
		return portion / 16
	case n.Kind == Dir:
		return 1 + int(min(n.dir.files, portion))
	}
	return 1
}

// spread brings nodes up to date, some of them by helpers that are free.
func (s *scan) spread(fd int, nodes []node) (bool, error) {
	var parts []*part
	var running sync.WaitGroup
	for len(nodes) > 0 {
		n := cut(nodes)
		p := &part{}
		parts = append(parts, p)
		mine := nodes[:n]
		nodes = nodes[n:]
		if len(nodes) == 0 || !s.startHelper(&running, p, fd, mine) {
			p.changed, p.err = s.some(fd, mine)
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

// part is what a run of nodes gave.
type part struct {
	changed bool
	err     error
	result  Result // of a helper
}

// cut is how many of the nodes make one portion.
func cut(nodes []node) int {
	sum := 0
	for i := range nodes {
		if sum += nodes[i].weight(); sum >= portion {
			return i + 1
		}
	}
	return len(nodes)
}

// startHelper lets a helper do a part when one is free.
func (s *scan) startHelper(running *sync.WaitGroup, p *part, fd int, nodes []node) bool {
	select {
	case s.shared.helpers <- struct{}{}:
	default:
		return false
	}
	h := &scan{ctx: s.ctx, rootFD: s.rootFD, start: s.start, shared: s.shared, path: slices.Clone(s.path), depth: s.depth, purse: s.purse}
	running.Go(func() {
		p.changed, p.err = h.some(fd, nodes)
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
