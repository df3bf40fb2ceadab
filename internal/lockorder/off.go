//go:build !lockorder

package lockorder

import "sync"

// Mutex is a sync.Mutex at a place of the order.
type Mutex[L Lock] struct{ sync.Mutex }

// Acquire records that the goroutine is about to hold a lock that is no mutex.
func Acquire[L Lock]() {}

// Release records that it holds the lock no more.
func Release[L Lock]() {}

// Await records that the goroutine is about to wait for another that needs the
// lock.
func Await[L Lock]() {}
