// Package replica is the contract of what stores second copies of logs on other machines,
// which cmd binds.
package replica

import (
	"context"
	"iter"

	"choiros/internal/choir"
)

// Cluster stores second copies of the logs of computers.
type Cluster interface {
	// Replica returns the replica of a computer's log. It does nothing until Start.
	Replica(computer choir.ID) Replica
	// Read calls fn with the encoded bytes of every event of the copy, in order; fn verifies
	// them. Code not_found: the cluster has no copy of this computer's log.
	Read(ctx context.Context, computer choir.ID, fn func(seq uint64, raw []byte) error) error
	// Probe returns an error unless the cluster answers and can store copies.
	Probe(ctx context.Context) error
	// Nodes returns the addresses of the cluster's nodes, without credentials.
	Nodes() []string
}

// Replica copies one log to a cluster, event by event and in order.
type Replica interface {
	// Start begins to copy src in a goroutine, which Close stops.
	Start(src EventSource)
	// Close stops copying. While the cluster is reachable, it first waits a bounded time for
	// it to have the whole log.
	Close()
	// Wait waits a bounded time until the cluster has event seq. Code unavailable: it does
	// not have it in time; conflict: it has another log.
	Wait(ctx context.Context, seq uint64) error
	// Healthy returns nil while the cluster accepts events, else an error with the reason.
	Healthy() error
	// Acked returns the number of the last event known to be on a majority of the nodes.
	Acked() uint64
	// Compare compares every event of the copy with the log, byte by byte, and returns the
	// number of the last equal one. Code corrupt: an event differs.
	Compare(ctx context.Context) (events uint64, err error)
}

// EventSource is the log to copy; eventstore.Store implements it.
type EventSource interface {
	// At returns one committed event; code not_found.
	At(ctx context.Context, seq uint64) (choir.Event, error)
	// Events yields the committed events from number from to number to, both included; to 0
	// means the newest.
	Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error]
	// Follow yields the events after number cursor in order, and waits for new ones until ctx
	// ends.
	Follow(ctx context.Context, cursor uint64) iter.Seq2[choir.Event, error]
	// Head returns number and hash of the last durable event.
	Head() (uint64, choir.Digest)
}
