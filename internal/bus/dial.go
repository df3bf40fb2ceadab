package bus

import (
	"context"
	"net"

	"choiros/internal/choir"
)

// DialConfig says how a Client reaches the bus and as whom.
type DialConfig struct {
	// Dial opens one byte stream to the bus: the bus socket of a sandbox, or an
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
}

// Dial connects once and returns the client, or says why the bus refused.
func Dial(ctx context.Context, cfg DialConfig) (*Client, error) {
	return &Client{cfg: cfg}, nil
}

// Close ends the connection and waits for what the client started.
func (c *Client) Close() error { return nil }

// UseCredentials opens a second connection, moves every subscription and all
// later calls to it, lets calls in flight end on the first, then closes that.
func (c *Client) UseCredentials(ctx context.Context, creds Credentials) error { return nil }

// Call asks the computer for a verb. A refusal comes back as *choir.Error.
func (c *Client) Call(ctx context.Context, verb choir.Verb, req, resp any) error { return nil }

// Append appends all drafts or none and returns once they are durable. It asks
// again over reconnects until ctx ends: a draft's id makes that safe.
func (c *Client) Append(ctx context.Context, drafts ...choir.Draft) ([]choir.Receipt, error) {
	return nil, nil
}

// EventsAfter reads committed events in order.
func (c *Client) EventsAfter(ctx context.Context, seq uint64, limit int) ([]choir.Event, error) {
	return nil, nil
}

// Follow calls fn for every event after seq, in order, each once, and ends with
// ctx or with fn's error.
func (c *Client) Follow(ctx context.Context, seq uint64, fn func(choir.Event) error) error {
	return nil
}

// Tasks delivers what control sends this worker, until ctx ends and the channel
// is closed.
func (c *Client) Tasks(ctx context.Context) (<-chan Delivery, error) { return nil, nil }

// Live streams text of a run to whoever watches; nobody may, and it is not kept.
func (c *Client) Live(run choir.ID, text string) error { return nil }

// PutBlob stores content and returns its digest.
func (c *Client) PutBlob(ctx context.Context, content []byte) (choir.Digest, error) {
	return "", nil
}

// GetBlob reads content by its digest and checks it.
func (c *Client) GetBlob(ctx context.Context, d choir.Digest) ([]byte, error) { return nil, nil }
