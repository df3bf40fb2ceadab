//go:build lockorder

package lockorder

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"sync"
)

// Mutex is a sync.Mutex at a place of the order.
type Mutex[L Lock] struct{ mu sync.Mutex }

// Lock records and locks.
func (m *Mutex[L]) Lock() {
	Acquire[L]()
	m.mu.Lock()
}

// Unlock forgets and unlocks.
func (m *Mutex[L]) Unlock() {
	Release[L]()
	m.mu.Unlock()
}

// recorded are the places of the locks that each goroutine holds.
var (
	recordedMu sync.Mutex
	recorded   = map[string][]int{}
)

// Acquire records that the goroutine is about to hold a lock that is no mutex.
func Acquire[L Lock]() {
	at, id := placeOf[L](), goroutine()
	recordedMu.Lock()
	defer recordedMu.Unlock()
	mustFollow(id, at)
	recorded[id] = append(recorded[id], at)
}

// Release records that it holds the lock no more.
func Release[L Lock]() {
	at, id := placeOf[L](), goroutine()
	recordedMu.Lock()
	defer recordedMu.Unlock()
	i := slices.Index(recorded[id], at)
	if i < 0 {
		panic(fmt.Sprintf("lockorder: %s releases %s, which it does not hold", id, Names()[at]))
	}
	if recorded[id] = slices.Delete(recorded[id], i, i+1); len(recorded[id]) == 0 {
		delete(recorded, id)
	}
}

// Await records that the goroutine is about to wait for another that needs the
// lock.
func Await[L Lock]() {
	recordedMu.Lock()
	defer recordedMu.Unlock()
	mustFollow(goroutine(), placeOf[L]())
}

func placeOf[L Lock]() int {
	var lock L
	return lock.place()
}

// mustFollow panics when the goroutine holds the lock at a place, or a lock behind it
// in the order.
func mustFollow(id string, at int) {
	for _, held := range recorded[id] {
		if held >= at {
			panic(fmt.Sprintf("lockorder: %s holds %s and acquires %s, which comes before it in the order", id, Names()[held], Names()[at]))
		}
	}
}

// goroutine is the name of the running goroutine, as a stack trace begins with it.
func goroutine() string {
	var buf [64]byte
	name, _, _ := bytes.Cut(buf[:runtime.Stack(buf[:], false)], []byte(" ["))
	return string(name)
}
