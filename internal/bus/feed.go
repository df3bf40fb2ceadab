package bus

import (
	"context"
	"slices"

	"github.com/nats-io/nats.go"

	"choiros/internal/choir"
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
	// on and lost are what missed saw last; they belong to the feed's reader.
	on   *link
	lost int
}

func (f *feed) poke() {
	select {
	case f.pokes <- struct{}{}:
	default: // one is waiting already
	}
}

// listen begins a feed, and returns once the server listens for it. It waits
// without the client's turn, since new credentials may be what it waits for.
func (c *Client) listen(ctx context.Context, subjects ...string) (*feed, error) {
	f := &feed{subjects: subjects, messages: make(chan *nats.Msg, feedBuffer), pokes: make(chan struct{}, 1)}
	if err := c.enlist(ctx, f); err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		l, err := c.begin()
		if err == nil {
			err = l.settle(ctx, f)
			l.calls.Done()
		}
		if err == nil {
			return f, nil
		}
		if choir.CodeOf(err) != choir.CodeBusy || !pause(ctx, backoff(n, retryMin, retryMax)) {
			c.unlisten(f)
			return nil, err
		}
	}
}

// enlist makes the feed part of this link and of all that follow.
func (c *Client) enlist(ctx context.Context, f *feed) error {
	release, err := c.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	if err := l.attach(f); err != nil {
		l.detach(f)
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.feeds = append(c.feeds, f)
	return nil
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

// missed reports whether messages were dropped since it was last asked. NATS
// tells of the first one of a series only. Messages are dropped while the buffer
// is full, so asking whenever it is empty misses none.
func (c *Client) missed(f *feed) bool {
	c.mu.Lock()
	l := c.link
	c.mu.Unlock()
	if l == nil {
		return false
	}
	lost := l.dropped(f)
	same := l == f.on && lost == f.lost
	f.on, f.lost = l, lost
	return !same
}
