package hub

import (
	"choiros/internal/bus"
	"choiros/internal/choir"
)

// Post is control's voice to the workers of one computer.
type Post struct{}

// NewPost opens the connection deliveries are sent on.
func NewPost(s *Server, user, computer choir.ID) (*Post, error) { return &Post{}, nil }

// Deliver sends a worker one delivery. Nobody may be listening: the caller sends
// it again until the answering event is committed.
func (p *Post) Deliver(role choir.Role, d bus.Delivery) error { return nil }

// Close ends the connection.
func (p *Post) Close() {}
