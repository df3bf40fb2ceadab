package guest

import (
	"context"
	"net"
)

// Client speaks to one choir-init. It may be used by many goroutines; each
// operation has a connection of its own and ends when its context does.
type Client struct {
	dial func(context.Context) (net.Conn, error)
}

// NewClient uses dial to reach the control door.
func NewClient(dial func(context.Context) (net.Conn, error)) *Client { return &Client{dial: dial} }

// Hello asks init who it is.
func (c *Client) Hello(ctx context.Context) (Info, error) {
	var info Info
	err := c.call(ctx, &request{Op: opHello}, &info)
	return info, err
}
