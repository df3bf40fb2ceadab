package bus

import (
	"context"
	"slices"

	"github.com/nats-io/nats.go"
)

// feedBuffer is how many messages wait for a slow reader. More are dropped and
// the reader is poked: it catches up from the log, or is sent them again.
const feedBuffer = 1024

// feed is a set of subjects that moves from link to link.
type feed struct {
	subjects []string
	// messages of all subjects in one channel keep the order between them. It is
	// never closed: the old and the new link write to it at the same time.
	messages chan *nats.Msg
	// pokes holds at most one; whoever reads it looks for what it missed.
	pokes chan struct{}
}

func (f *feed) poke() {
	select {
	case f.pokes <- struct{}{}:
	default: // one is waiting already
	}
}

// listen begins a feed. It is established at the server when listen returns.
func (c *Client) listen(ctx context.Context, subjects ...string) (*feed, error) {
	release, err := c.take(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	f := &feed{subjects: subjects, messages: make(chan *nats.Msg, feedBuffer), pokes: make(chan struct{}, 1)}
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	if err := l.attach(ctx, f); err != nil {
		l.detach(f)
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.feeds = append(c.feeds, f)
	return f, nil
}

// unlisten ends a feed.
func (c *Client) unlisten(f *feed) {
	release, err := c.take(context.Background())
	if err != nil {
		return // the client is closed, and its subscriptions with it
	}
	defer release()
	c.mu.Lock()
	l := c.link
	c.feeds = slices.DeleteFunc(c.feeds, func(other *feed) bool { return other == f })
	c.mu.Unlock()
	l.detach(f)
}
