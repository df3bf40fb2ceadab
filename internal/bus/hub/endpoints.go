package hub

import (
	"context"
	"io"
	"net"

	"choiros/internal/bus"
	"choiros/internal/choir"
)

var _ bus.Server = (*Server)(nil)

// ServeDoor implements bus.Endpoints.
func (s *Server) ServeDoor(ctx context.Context, listener net.Listener) io.Closer {
	return ServeDoor(ctx, listener, s)
}

// Respond implements bus.Endpoints.
func (s *Server) Respond(user, computer choir.ID, h bus.Handler) (bus.Responder, error) {
	r, err := Respond(s, user, computer, h)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Relay implements bus.Endpoints.
func (s *Server) Relay(src bus.EventSource, cursor bus.Cursor, user, computer choir.ID) bus.Service {
	return NewRelay(s, src, cursor, user, computer)
}

// OpenPost implements bus.Endpoints.
func (s *Server) OpenPost(user, computer choir.ID) (bus.Post, error) {
	p, err := NewPost(s, user, computer)
	if err != nil {
		return nil, err
	}
	return p, nil
}
