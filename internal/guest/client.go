package guest

import (
	"context"
	"net"
)

// Client speaks to one choir-init. It may be used by many goroutines; each
// operation has a connection of its own and ends when its context does.
type Client struct {
	dial       func(context.Context) (net.Conn, error)
	cacheLimit int64
}

// NewClient uses dial to reach the control door.
func NewClient(dial func(context.Context) (net.Conn, error)) *Client { return &Client{dial: dial} }

// LimitCaches lets scans and restores leave out caches of more than so many
// bytes; 0 keeps all. It is called before the client is used.
func (c *Client) LimitCaches(bytes int64) { c.cacheLimit = bytes }

// Hello asks init who it is.
func (c *Client) Hello(ctx context.Context) (Info, error) {
	var info Info
	err := c.call(ctx, &request{Op: opHello}, &info)
	return info, err
}
