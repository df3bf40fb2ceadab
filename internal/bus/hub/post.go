package hub

import (
	"encoding/json"

	"github.com/nats-io/nats.go"

	"choiros/internal/bus"
	"choiros/internal/choir"
)

// Post is control's voice to the workers and pages of one computer.
type Post struct {
	nc             *nats.Conn
	user, computer choir.ID
}

// NewPost opens the connection deliveries are sent on.
func NewPost(s *Server, user, computer choir.ID) (*Post, error) {
	nc, err := s.ownControl(user, computer)
	if err != nil {
		return nil, err
	}
	return &Post{nc: nc, user: user, computer: computer}, nil
}

// Deliver sends a worker one delivery. Nobody may be listening: the caller sends
// it again until the answering event is committed.
func (p *Post) Deliver(role choir.Role, d bus.Delivery) error {
	if err := d.Check(); err != nil {
		return err
	}
	body, err := json.Marshal(d)
	if err == nil {
		err = p.nc.Publish(bus.TaskSubject(p.user, p.computer, role), body)
	}
	return choir.Wrap("bus.deliver", choir.CodeUnavailable, err, "send a %s to the %s", d.Kind, role)
}

// TellDraft tells the pages that a draft changed. Whoever does not listen reads
// the drafts when it connects.
func (p *Post) TellDraft(d bus.DraftChanged) error {
	body, err := json.Marshal(d)
	if err == nil {
		err = p.nc.Publish(bus.DraftSubject(p.user, p.computer), body)
	}
	return choir.Wrap("bus.tell", choir.CodeUnavailable, err, "tell of a draft of %s", d.App)
}

// Close sends what is buffered and ends the connection.
func (p *Post) Close() { p.nc.Close() }
