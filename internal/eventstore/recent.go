package eventstore

import (
	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/lockorder"
)

// recentEvents is how many ids, and how many keys, are remembered at least, to
// find a repeated append without asking the database.
const recentEvents = 1 << 14

// recent remembers the newest events by id, and the newest of which the log has
// one by key, also those that are sealed and not durable yet.
type recent struct {
	mu     lockorder.Mutex[lockorder.RecentMu] // guards the two below
	ids    generations[choir.ID, sealed]
	firsts generations[choir.OnceKey, first]
}

// first is the event with a key, see choir.OnceKeys.
type first struct {
	seq uint64
	run choir.ID
}

// sealed is what the store put into an event that is remembered: a draft is a
// repetition of it when sealing that with the same gives the same hash.
type sealed struct {
	seq        uint64
	at         choir.Time
	prev, hash choir.Digest
}

// generations remember up to twice recentEvents entries, and at least half of
// that once there were so many.
type generations[K ~string, V any] struct {
	young, old map[K]V
	// newest is the greatest key that is in the log and not remembered; empty while
	// there is none. Keys begin with the time at which they were made, so nearly
	// every new one is greater and cannot be in the log.
	newest K
}

func (g *generations[K, V]) find(key K) (V, bool) {
	if v, ok := g.young[key]; ok {
		return v, true
	}
	v, ok := g.old[key]
	return v, ok
}

func (g *generations[K, V]) add(key K, v V) {
	if g.young == nil || len(g.young) >= recentEvents {
		for key := range g.old {
			g.newest = max(g.newest, key)
		}
		g.old, g.young = g.young, make(map[K]V)
	}
	g.young[key] = v
}

func (g *generations[K, V]) remove(key K) {
	delete(g.young, key)
	delete(g.old, key)
}

// unknown reports whether the key certainly is not in the log.
func (g *generations[K, V]) unknown(key K) bool {
	if key <= g.newest {
		return false
	}
	_, known := g.find(key)
	return !known
}

// begin says which ids and keys the log has: the unique indexes of the SQLite copy
// know the newest at once.
func (r *recent) begin(conn *sqlite.Conn, head uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids.newest, r.firsts.newest = "", ""
	if head == 0 {
		return nil
	}
	err := query(conn, "SELECT max(id) FROM events", func(st *sqlite.Stmt) error {
		r.ids.newest = choir.ID(st.ColumnText(0))
		return nil
	})
	if err != nil {
		return err
	}
	return query(conn, "SELECT max(key) FROM firsts", func(st *sqlite.Stmt) error {
		r.firsts.newest = choir.OnceKey(st.ColumnText(0))
		return nil
	})
}

func (r *recent) id(id choir.ID) (sealed, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids.find(id)
}

// seq is the number of the event with an id that is remembered.
func (r *recent) seq(id choir.ID) (uint64, bool) {
	e, ok := r.id(id)
	return e.seq, ok
}

// first is the event with a key that is remembered.
func (r *recent) first(key choir.OnceKey) (first, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.firsts.find(key)
}

// unknown reports whether the id certainly is not in the log.
func (r *recent) unknown(id choir.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids.unknown(id)
}

// unheard reports whether the log certainly has no event of the key.
func (r *recent) unheard(key choir.OnceKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.firsts.unknown(key)
}

// add remembers a sealed event, by its key too when it has one.
func (r *recent) add(e *choir.Event, key choir.OnceKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids.add(e.ID, sealed{e.Seq, e.Time, e.PrevHash, e.Hash})
	if key != "" {
		r.firsts.add(key, first{e.Seq, e.Run})
	}
}

// remove forgets an event whose append failed.
func (r *recent) remove(id choir.ID, key choir.OnceKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids.remove(id)
	if key != "" {
		r.firsts.remove(key)
	}
}
