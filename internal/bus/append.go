package bus

import (
	"context"

	"choiros/internal/choir"
)

// Append appends all drafts or none and returns their receipts, in order, once
// they are durable. It asks again over reconnects until ctx ends: a draft's id
// makes that safe.
func (c *Client) Append(ctx context.Context, drafts ...choir.Draft) ([]choir.Receipt, error) {
	if len(drafts) == 0 {
		return nil, nil
	}
	var reply choir.AppendReply
	if err := c.Call(ctx, choir.VerbAppend, choir.AppendRequest{Drafts: drafts}, &reply); err != nil {
		return nil, err
	}
	if len(reply.Receipts) != len(drafts) {
		return nil, choir.E("bus.append", choir.CodeInternal, "%d receipts for %d drafts", len(reply.Receipts), len(drafts))
	}
	return reply.Receipts, nil
}

// EventsAfter reads committed events in order: at most limit, fewer when they
// are large, none when seq is the newest. A limit of 0 is the most there may be.
func (c *Client) EventsAfter(ctx context.Context, seq uint64, limit int) ([]choir.Event, error) {
	reply, err := c.eventsAfter(ctx, seq, limit)
	return reply.Events, err
}

// ReadRun reads what was asked and answered in a run that has ended.
func (c *Client) ReadRun(ctx context.Context, run choir.ID) (choir.RunReadReply, error) {
	var reply choir.RunReadReply
	err := c.Call(ctx, choir.VerbRunRead, choir.RunReadRequest{Run: run}, &reply)
	return reply, err
}

func (c *Client) eventsAfter(ctx context.Context, seq uint64, limit int) (choir.EventsAfterReply, error) {
	var reply choir.EventsAfterReply
	err := c.Call(ctx, choir.VerbEventsAfter, choir.EventsAfterRequest{Seq: seq, Limit: limit}, &reply)
	return reply, err
}
