// Package groupcommit lets concurrent writers share one write and one sync.
package groupcommit

import (
	"runtime"
	"sync"
)

// Queue collects items into groups. The goroutine that starts a group is its leader and
// writes the group; the others wait for it.
type Queue[T any] struct {
	mu      sync.Locker // guards filling and the items in it
	writing sync.Locker // held by the leader whose group is written
	most    int
	write   func(items []T) error
	filling *group[T] // takes up items until its leader writes it
}

// group is the items of one write.
type group[T any] struct {
	items []T
	size  int
	joins int
	done  chan struct{} // closed by the leader
	err   error         // read after done
}

// Place is a caller's part in a group.
type Place[T any] struct {
	group  *group[T]
	leader bool
}

// New returns a queue. mu is the owner's lock of the state that is read when items
// join; writing is its lock of the written state. A leader locks mu while it holds
// writing. write is called for one group at a time, with writing held. most is the size
// above which a group accepts no more items, 0 for no limit; groups of a queue with a
// limit may be written in another order than they were started.
func New[T any](mu, writing sync.Locker, most int, write func(items []T) error) *Queue[T] {
	return &Queue[T]{mu: mu, writing: writing, most: most, write: write}
}

// Join adds items with the total size size to the group that is being filled; items may
// be empty. The caller holds mu, unlocks it and then calls Finish with the returned
// place.
func (q *Queue[T]) Join(items []T, size int) Place[T] {
	p := Place[T]{group: q.filling}
	if p.group == nil || p.group.size+size > q.most && q.most > 0 {
		p = Place[T]{&group[T]{done: make(chan struct{})}, true}
		q.filling = p.group
	}
	p.group.items = append(p.group.items, items...)
	p.group.size += size
	p.group.joins++
	return p
}

// Finish waits until the group of a place is written, or writes it if the place is the
// leader's. It returns the error of that write.
func (q *Queue[T]) Finish(p Place[T]) error {
	g := p.group
	if !p.leader {
		<-g.done
		return g.err
	}
	q.writing.Lock()
	q.detach(g)
	if g.err == nil {
		g.err = q.write(g.items)
	}
	q.writing.Unlock()
	close(g.done)
	return g.err
}

// detach ends the filling of group g. It first yields to goroutines that are ready to
// join: callers that the last sync released arrive at about the same time and would
// otherwise need a sync of their own.
func (q *Queue[T]) detach(g *group[T]) {
	for joins := 0; ; runtime.Gosched() {
		q.mu.Lock()
		if joins == g.joins || q.filling != g {
			if q.filling == g {
				q.filling = nil
			}
			q.mu.Unlock()
			return
		}
		joins = g.joins
		q.mu.Unlock()
	}
}

// Refuse fails the group that is being filled with err, if there is one. The caller
// holds mu.
func (q *Queue[T]) Refuse(err error) {
	if q.filling != nil {
		q.filling.err, q.filling = err, nil
	}
}

// Filling reports whether a group with unwritten items is being filled. The caller
// holds mu.
func (q *Queue[T]) Filling() bool { return q.filling != nil }
