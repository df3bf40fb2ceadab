package hub

import (
	"context"

	"choiros/internal/choir"
)

// Handler answers one command. The reply is encoded as JSON; an error travels
// as a choir.Problem.
type Handler func(ctx context.Context, caller choir.Caller, verb choir.Verb, body []byte) (reply any, err error)

// Responder answers the commands of one computer.
type Responder struct{}

// Respond starts answering, on a connection of its own that may publish replies
// and nothing else.
func Respond(s *Server, user, computer choir.ID, h Handler) (*Responder, error) {
	return &Responder{}, nil
}

// Close stops taking commands, cancels those that run and waits for them.
func (r *Responder) Close() {}
