package eventstore

import (
	"zombiezen.com/go/sqlite"

	"choiros/internal/choir"
	"choiros/internal/lockorder"
)

// recentEvents is the number of ids, and of once keys, that are cached at least, to
// find a repeated append without a database query.
const recentEvents = 1 << 14

// recent caches the newest events by id and by once key, including sealed events that
// are not durable yet.
type recent struct {
	mu     lockorder.Mutex[lockorder.RecentMu] // guards the two below
	ids    generations[choir.ID, sealed]
	firsts generations[choir.OnceKey, first]
}

// first is the cached event with a once key, see choir.OnceKeys.
type first struct {
	seq uint64
	run choir.ID
}

// sealed is the cached part of an event. A draft repeats the event if sealing it with
// these values gives the same hash.
type sealed struct {
	seq        uint64
	at         choir.Time
	prev, hash choir.Digest
}

// generations is a two-generation cache of between recentEvents and twice as many
// entries.
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

// unknown reports whether the log certainly lacks the key.
func (g *generations[K, V]) unknown(key K) bool {
	if key <= g.newest {
		return false
	}
	_, known := g.find(key)
	return !known
}

// loadNewest reads the greatest id and once key of the log from the indexes of the
// SQLite copy.
func (r *recent) loadNewest(conn *sqlite.Conn, head uint64) error {
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

// seq returns the number of the cached event with an id.
func (r *recent) seq(id choir.ID) (uint64, bool) {
	e, ok := r.id(id)
	return e.seq, ok
}

// first returns the cached event with a once key.
func (r *recent) first(key choir.OnceKey) (first, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.firsts.find(key)
}

// lacksID reports whether the log certainly lacks an event with the id.
func (r *recent) lacksID(id choir.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids.unknown(id)
}

// lacksKey reports whether the log certainly lacks an event with the once key.
func (r *recent) lacksKey(key choir.OnceKey) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.firsts.unknown(key)
}

// add caches a sealed event by its id, and by its once key unless that is empty.
func (r *recent) add(e *choir.Event, key choir.OnceKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids.add(e.ID, sealed{e.Seq, e.Time, e.PrevHash, e.Hash})
	if key != "" {
		r.firsts.add(key, first{e.Seq, e.Run})
	}
}

// remove drops an event whose append failed from the cache.
func (r *recent) remove(id choir.ID, key choir.OnceKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids.remove(id)
	if key != "" {
		r.firsts.remove(key)
	}
}
