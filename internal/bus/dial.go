package bus

import (
	"context"
	"net"
	"slices"
	"sync"

	"choiros/internal/choir"
)

// DialConfig says how a Client reaches the bus and as whom.
type DialConfig struct {
	// Dial opens one byte stream to the bus: the bus door of a sandbox, or an
	// in-process pipe. It is called again for every reconnect.
	Dial        func(context.Context) (net.Conn, error)
	Credentials Credentials
	User        choir.ID
	Computer    choir.ID
	Role        choir.Role
}

// Client speaks to one computer. It reconnects by itself; its methods may be
// called from many goroutines.
type Client struct {
	cfg DialConfig
	// life ends with Close.
	life context.Context
	end  context.CancelFunc
	// turn is held by whoever changes which links exist or what they listen to.
	// It is a channel because that is slow and must be possible to give up.
	turn chan struct{}

	mu    sync.Mutex // guards what follows
	link  *link      // carries new calls; nil once closed
	feeds []*feed
}

// Dial connects once and returns the client, or says why the bus refused.
func Dial(ctx context.Context, cfg DialConfig) (*Client, error) {
	switch {
	case cfg.Dial == nil:
		return nil, choir.Invalid("dial", "is required")
	case !cfg.User.Valid() || !cfg.Computer.Valid():
		return nil, choir.Invalid("computer", "a client needs a user and a computer, not %q and %q", cfg.User, cfg.Computer)
	}
	c := &Client{cfg: cfg, turn: make(chan struct{}, 1)}
	c.life, c.end = context.WithCancel(context.Background())
	l, err := c.open(ctx, cfg.Credentials)
	if err != nil {
		c.end()
		return nil, err
	}
	c.link = l
	return c, nil
}

// Close ends the connection and every call on it. It waits for a change of
// credentials that is under way.
func (c *Client) Close() error {
	c.end()
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	c.mu.Lock()
	l := c.link
	c.link, c.feeds = nil, nil
	c.mu.Unlock()
	if l != nil {
		l.close()
	}
	return nil
}

// take waits for the client's turn.
func (c *Client) take(ctx context.Context) (release func(), err error) {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, choir.Wrap("bus", choir.CodeCancelled, ctx.Err(), "wait for the connection")
	}
	if c.life.Err() != nil {
		<-c.turn
		return nil, errClosed
	}
	return func() { <-c.turn }, nil
}

// begin counts a call on the link of the moment.
func (c *Client) begin() (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == nil {
		return nil, errClosed
	}
	c.link.calls.Add(1)
	return c.link, nil
}

// pokeAll makes every feed look whether it missed something.
func (c *Client) pokeAll() {
	c.mu.Lock()
	feeds := slices.Clone(c.feeds)
	c.mu.Unlock()
	for _, f := range feeds {
		f.poke()
	}
}

var errClosed = choir.E("bus", choir.CodeUnavailable, "the client is closed")
