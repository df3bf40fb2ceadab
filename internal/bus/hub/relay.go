package hub

import (
	"context"

	"choiros/internal/choir"
)

// EventSource is the log a relay delivers; eventstore.Store is one.
type EventSource interface {
	// EventsAfter returns committed events in order, at most limit.
	EventsAfter(ctx context.Context, seq uint64, limit int) ([]choir.Event, error)
	// WaitPast returns when the log has an event after seq.
	WaitPast(ctx context.Context, seq uint64) error
}

// Relay publishes one computer's committed events in order.
type Relay struct{}

// NewRelay makes the relay of a computer. cursor is the file that remembers how
// far it is.
func NewRelay(s *Server, src EventSource, cursor string, user, computer choir.ID) *Relay {
	return &Relay{}
}

// Serve publishes until ctx ends. A bus outage delays it.
func (r *Relay) Serve(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
