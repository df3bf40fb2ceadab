package guest

import (
	"context"
	"net"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// Client sends requests to one choir-init. It is safe for concurrent use. Each operation
// has a connection of its own and ends when its context does.
type Client struct {
	dial       func(context.Context) (net.Conn, error)
	cacheLimit int64
	limits     snapshot.Limits
	report     func(snapshot.Progress)
}

// NewClient returns a client that connects to the control door with dial.
func NewClient(dial func(context.Context) (net.Conn, error)) *Client { return &Client{dial: dial} }

// LimitCaches makes scans and restores leave out caches with more than so many bytes; 0
// means no limit. Call it before the client is used.
func (c *Client) LimitCaches(bytes int64) { c.cacheLimit = bytes }

// Limit makes scans and restores leave out paths beyond these limits. Call it before the
// client is used.
func (c *Client) Limit(l snapshot.Limits) { c.limits = l }

// ReportTo makes scans and restores call report with their progress. Call it before the
// client is used.
func (c *Client) ReportTo(report func(snapshot.Progress)) { c.report = report }

// passProgress decodes a progress frame and passes it to the function of ReportTo.
func (c *Client) passProgress(payload []byte) error {
	var p progress
	if err := choir.DecodeStrict(payload, &p); err != nil {
		return choir.Under("progress", err)
	}
	if c.report != nil {
		c.report(snapshot.Progress{Entries: p.Entries, Bytes: p.Bytes})
	}
	return nil
}

// Hello returns the version, boot time and role of init.
func (c *Client) Hello(ctx context.Context) (Info, error) {
	var info Info
	err := c.call(ctx, &request{Op: opHello}, &info)
	return info, err
}
