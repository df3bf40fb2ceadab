package bus

import (
	"context"
	"net"
	"slices"
	"sync"

	"choiros/internal/choir"
)

// DialConfig configures a Client: how to reach the bus, with which identity.
type DialConfig struct {
	// Dial opens a byte stream to the bus: the bus door of a sandbox, or an
	// in-process pipe. It is called again for every reconnect.
	Dial        func(context.Context) (net.Conn, error)
	Credentials Credentials
	User        choir.ID
	Computer    choir.ID
	Role        choir.Role
}

// Client is a connection to one computer. It reconnects by itself; its methods are safe
// for concurrent use.
type Client struct {
	cfg DialConfig
	// life is cancelled by Close.
	life context.Context
	end  context.CancelFunc
	// turn locks changes to the link and its subscriptions. It is a channel
	// because a change is slow, and a waiting caller may give up when its context ends.
	turn chan struct{}

	mu    sync.Mutex // guards link and feeds
	link  *link      // carries new calls; nil once closed
	feeds []*feed
}

// Dial connects to the bus and returns the client, or the error of the first connection.
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

// Close closes the connection and aborts every call on it. It waits for a change of
// credentials in progress.
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

// acquireTurn locks c.turn and returns the function that unlocks it. Code cancelled: ctx
// ended first; unavailable: the client is closed.
func (c *Client) acquireTurn(ctx context.Context) (release func(), err error) {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, choir.Wrap("bus", choir.CodeCancelled, ctx.Err(), "wait for the connection")
	}
	if c.life.Err() != nil {
		<-c.turn
		return nil, ErrClosed
	}
	return func() { <-c.turn }, nil
}

// beginCall returns the current link with its call counter incremented; the caller calls
// calls.Done. Code unavailable: the client is closed.
func (c *Client) beginCall() (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == nil {
		return nil, ErrClosed
	}
	c.link.calls.Add(1)
	return c.link, nil
}

// pokeAll makes the reader of every feed check for missed messages.
func (c *Client) pokeAll() {
	c.mu.Lock()
	feeds := slices.Clone(c.feeds)
	c.mu.Unlock()
	for _, f := range feeds {
		f.poke()
	}
}

// ErrClosed is returned by the methods of a closed Client.
var ErrClosed = choir.E("bus", choir.CodeUnavailable, "the client is closed")
