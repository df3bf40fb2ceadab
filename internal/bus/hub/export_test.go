package hub

import (
	"context"
	"io"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"

	"choiros/internal/choir"
)

// Unbound opens a connection that may do everything, to get past the server's
// permissions and at what stands behind them.
func (s *Server) Unbound() (*nats.Conn, error) {
	return s.own(jwt.Permissions{}, newConnection())
}

// Answering opens a connection like a responder's.
func (s *Server) Answering(user, computer choir.ID) (*nats.Conn, error) {
	return s.own(answering(user, computer), newConnection())
}

// Nobody opens a connection whose allow lists are empty.
func (s *Server) Nobody(opts ...nats.Option) (*nats.Conn, error) {
	return s.own(closed(jwt.Permissions{}), newConnection(), opts...)
}

// WithTail changes how much a relay repeats when the stream is gone.
func (r *Relay) WithTail(n uint64) *Relay {
	r.tail = n
	return r
}

// WithPatience changes how long a relay waits for the stream to take an event.
func (r *Relay) WithPatience(d time.Duration) *Relay {
	r.patience = d
	return r
}

// RelayBatch is how much a relay publishes at a time.
const RelayBatch = relayBatch

// Paced reads as a bridge does.
func Paced(ctx context.Context, from io.Reader) io.Reader {
	return struct{ io.Reader }{newPaced(ctx, from)}
}

// Kill ends the NATS server behind the hub's back.
func (s *Server) Kill() { stop(s.current()) }
