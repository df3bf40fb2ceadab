package bus

import (
	"context"
	"slices"

	"github.com/nats-io/nats.go"

	"choiros/internal/choir"
)

// feedBuffer is the number of messages buffered for a slow reader. Further ones are
// dropped and the reader is poked, so that it reads them from the log.
const feedBuffer = 1024

// feed is the subscriptions of one reader. They are moved to the new link when the
// credentials change.
type feed struct {
	subjects []string
	// messages of all subjects in one channel keep the order between them. It is
	// never closed: the old and the new link write to it at the same time.
	messages chan *nats.Msg
	// pokes holds at most one poke, which tells the reader to look for missed messages.
	pokes chan struct{}
	// on and lost are the link and its dropped messages at the last call of missed; only the reader uses them.
	on   *link
	lost int
}

// poke makes the feed's reader check for missed messages. It never blocks.
func (f *feed) poke() {
	select {
	case f.pokes <- struct{}{}:
	default: // one is waiting already
	}
}

// listen subscribes to subjects and returns the feed once the server has confirmed. It
// does not hold the client's turn while it waits, because only new credentials may bring
// the link back. The caller ends the feed by unlisten.
func (c *Client) listen(ctx context.Context, subjects ...string) (*feed, error) {
	f := &feed{subjects: subjects, messages: make(chan *nats.Msg, feedBuffer), pokes: make(chan struct{}, 1)}
	if err := c.enlist(ctx, f); err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		l, err := c.beginCall()
		if err == nil {
			err = l.confirmSubscription(ctx, f)
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

// enlist subscribes f on the current link, and on every later one.
func (c *Client) enlist(ctx context.Context, f *feed) error {
	release, err := c.acquireTurn(ctx)
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

// unlisten ends a feed and its subscriptions.
func (c *Client) unlisten(f *feed) {
	release, err := c.acquireTurn(context.Background())
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

// missed reports whether messages of f were dropped since its last call. The reader calls
// it whenever its buffer is empty, because NATS reports only the first dropped message of
// a series.
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
