package bus

import (
	"context"
	"iter"

	"choiros/internal/choir"
)

// Append appends all drafts or none and returns their receipts in order, once they are
// durable. It retries over reconnects until ctx ends, which is safe because drafts have
// ids.
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

// Events yields the events from number from up to number to, or up to the newest one at
// the start if to is 0 or beyond it. It requests pages while it is iterated. An error is
// the last pair; code internal: an event out of order.
func (c *Client) Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error] {
	return func(yield func(choir.Event, error) bool) {
		next, last := max(from, 1), to
		for asked := false; !asked || next <= last; asked = true {
			reply, err := c.eventsAfter(ctx, next-1, 0)
			if err != nil {
				yield(choir.Event{}, err)
				return
			}
			if !asked && (to == 0 || to > reply.Head) {
				last = reply.Head
			}
			for _, e := range reply.Events {
				switch {
				case e.Seq < next:
					yield(choir.Event{}, choir.E("bus.events", choir.CodeInternal, "event %d came after event %d", e.Seq, next-1))
					return
				case e.Seq > last || !yield(e, nil):
					return
				}
				next = e.Seq + 1
			}
			if len(reply.Events) == 0 {
				return
			}
		}
	}
}

// EventsAfter returns one page of events after number seq, in order: at most limit (0: the
// most allowed), fewer if they are large, none if seq is the newest.
func (c *Client) EventsAfter(ctx context.Context, seq uint64, limit int) ([]choir.Event, error) {
	reply, err := c.eventsAfter(ctx, seq, limit)
	return reply.Events, err
}

// ReadRun returns the prompt and the answer of a finished run.
func (c *Client) ReadRun(ctx context.Context, run choir.ID) (choir.RunReadReply, error) {
	var reply choir.RunReadReply
	err := c.Call(ctx, choir.VerbRunRead, choir.RunReadRequest{Run: run}, &reply)
	return reply, err
}

// ReadFacts returns what lay in the workspace when a run was asked for; "" when that is
// not known.
func (c *Client) ReadFacts(ctx context.Context, run choir.ID) (string, error) {
	var reply choir.FactsReadReply
	err := c.Call(ctx, choir.VerbFactsRead, choir.FactsReadRequest{Run: run}, &reply)
	return reply.Text, err
}

// LookAtWorkspace lists, reads or searches in a snapshot of the workspace.
func (c *Client) LookAtWorkspace(ctx context.Context, r choir.LookRequest) (string, error) {
	var reply choir.LookReply
	err := c.Call(ctx, choir.VerbLook, r, &reply)
	return reply.Text, err
}

// eventsAfter requests one page of events after number seq, see EventsAfter.
func (c *Client) eventsAfter(ctx context.Context, seq uint64, limit int) (choir.EventsAfterReply, error) {
	var reply choir.EventsAfterReply
	err := c.Call(ctx, choir.VerbEventsAfter, choir.EventsAfterRequest{Seq: seq, Limit: limit}, &reply)
	return reply, err
}
