package hub

import (
	"encoding/json"

	"github.com/nats-io/nats.go"

	"choiros/internal/bus"
	"choiros/internal/choir"
)

// Post publishes changes of drafts, which are not in the log, to one computer's pages.
type Post struct {
	nc             *nats.Conn
	user, computer choir.ID
}

// NewPost opens a connection of the control plane and returns the Post, which the caller
// closes.
func NewPost(s *Server, user, computer choir.ID) (*Post, error) {
	nc, err := s.ownControl(user, computer)
	if err != nil {
		return nil, err
	}
	return &Post{nc: nc, user: user, computer: computer}, nil
}

// TellDraft publishes that a draft changed. Pages that do not listen read the drafts when
// they connect.
func (p *Post) TellDraft(d bus.DraftChanged) error {
	body, err := json.Marshal(d)
	if err == nil {
		err = p.nc.Publish(bus.DraftSubject(p.user, p.computer), body)
	}
	return choir.Wrap("bus.tell", choir.CodeUnavailable, err, "tell of a draft of %s", d.App)
}

// Close sends buffered messages and closes the connection.
func (p *Post) Close() { p.nc.Close() }
