package snapshot

import "sync"

// recent is a cache of at most 2*max values by digest, in two generations: when young is
// full it replaces old. It is safe for concurrent use.
type recent[V any] struct {
	max int

	mu         sync.Mutex // guards what follows
	young, old map[Sum]V
}

func newRecent[V any](max int) *recent[V] {
	return &recent[V]{max: max, young: map[Sum]V{}}
}

func (r *recent[V]) get(sum Sum) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.young[sum]; ok {
		return v, true
	}
	v, ok := r.old[sum]
	if ok {
		r.add(sum, v)
	}
	return v, ok
}

func (r *recent[V]) put(sum Sum, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(sum, v)
}

func (r *recent[V]) add(sum Sum, v V) {
	if len(r.young) >= r.max {
		r.old, r.young = r.young, map[Sum]V{}
	}
	r.young[sum] = v
}

// clear removes all values.
func (r *recent[V]) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.young, r.old = map[Sum]V{}, nil
}
