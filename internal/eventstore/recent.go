package eventstore

import (
	"sync"

	"choiros/internal/choir"
)

// recentEvents is how many ids are remembered at least, to find a repeated
// append without asking the database.
const recentEvents = 1 << 14

// recent remembers the ids of the newest events in two generations, also of
// those that are sealed and not durable yet.
type recent struct {
	mu       sync.Mutex // guards the three below
	young    map[choir.ID]uint64
	old      map[choir.ID]uint64
	complete bool // nothing has been forgotten and the log began empty
}

func (r *recent) seq(id choir.ID) (uint64, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if seq, ok := r.young[id]; ok {
		return seq, true
	}
	seq, ok := r.old[id]
	return seq, ok
}

// unknown reports whether the id certainly is not in the log.
func (r *recent) unknown(id choir.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.complete {
		return false
	}
	_, young := r.young[id]
	_, old := r.old[id]
	return !young && !old
}

func (r *recent) add(id choir.ID, seq uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.young == nil || len(r.young) >= recentEvents {
		r.complete = r.complete && len(r.old) == 0
		r.old, r.young = r.young, make(map[choir.ID]uint64)
	}
	r.young[id] = seq
}

// remove forgets an id whose append failed.
func (r *recent) remove(id choir.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.young, id)
	delete(r.old, id)
}
