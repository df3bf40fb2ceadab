package eventstore

import (
	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/lockorder"
)

// recentEvents is how many ids are remembered at least, to find a repeated
// append without asking the database.
const recentEvents = 1 << 14

// recent remembers the ids of the newest events in two generations, also of
// those that are sealed and not durable yet.
type recent struct {
	mu    lockorder.Mutex[lockorder.RecentMu] // guards the three below
	young map[choir.ID]uint64
	old   map[choir.ID]uint64
	// newest is the time in the newest id that is in the log and not remembered,
	// and before all times while there is none. Ids are made as time goes on, so
	// nearly every new one is newer and cannot be in the log.
	newest choir.Time
}

const beforeAll choir.Time = -1

// begin says which ids the log has: the unique index of the SQLite copy knows
// the newest at once.
func (r *recent) begin(conn *sqlite.Conn, head uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest = beforeAll
	if head == 0 {
		return nil
	}
	return query(conn, "SELECT max(id) FROM events", func(st *sqlite.Stmt) error {
		if id := choir.ID(st.ColumnText(0)); id.Valid() {
			r.newest = id.Time()
		}
		return nil
	})
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
	if id.Time() <= r.newest {
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
		for id := range r.old {
			r.newest = max(r.newest, id.Time())
		}
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
