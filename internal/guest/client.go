package guest

import (
	"context"
	"net"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// Client speaks to one choir-init. It may be used by many goroutines; each
// operation has a connection of its own and ends when its context does.
type Client struct {
	dial       func(context.Context) (net.Conn, error)
	cacheLimit int64
	limits     snapshot.Limits
	report     func(snapshot.Progress)
}

// NewClient uses dial to reach the control door.
func NewClient(dial func(context.Context) (net.Conn, error)) *Client { return &Client{dial: dial} }

// LimitCaches lets scans and restores leave out caches of more than so many
// bytes; 0 keeps all. It is called before the client is used.
func (c *Client) LimitCaches(bytes int64) { c.cacheLimit = bytes }

// Limit lets scans and restores leave out what is beyond these limits. It is called
// before the client is used.
func (c *Client) Limit(l snapshot.Limits) { c.limits = l }

// ReportTo lets scans and restores say how far they are. It is called before the
// client is used.
func (c *Client) ReportTo(report func(snapshot.Progress)) { c.report = report }

// at passes on how far the far end is.
func (c *Client) at(payload []byte) error {
	var p progress
	if err := choir.DecodeStrict(payload, &p); err != nil {
		return choir.Under("progress", err)
	}
	if c.report != nil {
		c.report(snapshot.Progress{Entries: p.Entries, Bytes: p.Bytes})
	}
	return nil
}

// Hello asks init who it is.
func (c *Client) Hello(ctx context.Context) (Info, error) {
	var info Info
	err := c.call(ctx, &request{Op: opHello}, &info)
	return info, err
}
