package bus

import (
	"context"
	"encoding/json"

	"github.com/nats-io/nats.go"

	"choiros/internal/choir"
)

// Follow calls fn for every event after seq, in order, each once, from one
// goroutine, and ends with ctx or with fn's error. It reads what is there from
// the log, then listens; what it misses (a gap, a reconnect, a slow fn) it reads
// from the log again.
func (c *Client) Follow(ctx context.Context, seq uint64, fn func(choir.Event) error) error {
	owner := string(c.cfg.User) + "." + string(c.cfg.Computer)
	// Exactly as wide as the permission: the server refuses anything wider.
	f, err := c.listen(ctx, "user."+owner+".>", "agent."+owner+".*.>")
	if err != nil {
		return err
	}
	defer c.unlisten(f)
	r := &reader{client: c, seq: seq, fn: fn}
	err = r.catchUp(ctx)
	for err == nil {
		select {
		case <-ctx.Done():
		case <-c.life.Done():
			return errClosed
		case <-f.pokes:
			err = r.catchUp(ctx)
		case m := <-f.messages:
			err = r.take(ctx, m)
			if err == nil && len(f.messages) == 0 && c.missed(f) {
				err = r.catchUp(ctx)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return err
}

// reader is how far one Follow is.
type reader struct {
	client *Client
	seq    uint64
	fn     func(choir.Event) error
}

// take hands on the next event, drops one it had, and reads the log when there
// is a gap.
func (r *reader) take(ctx context.Context, m *nats.Msg) error {
	var e choir.Event
	if err := json.Unmarshal(m.Data, &e); err != nil {
		return choir.Wrap("bus.follow", choir.CodeInternal, err, "read an event on %s", m.Subject)
	}
	switch {
	case e.Seq <= r.seq:
		return nil
	case e.Seq > r.seq+1:
		return r.catchUp(ctx)
	}
	return r.hand(e)
}

func (r *reader) hand(e choir.Event) error {
	if err := r.fn(e); err != nil {
		return err
	}
	r.seq = e.Seq
	return nil
}

// catchUp reads what the log has at that moment; what comes meanwhile is heard.
func (r *reader) catchUp(ctx context.Context) error {
	for e, err := range r.client.Events(ctx, r.seq+1, 0) {
		if err == nil {
			err = r.hand(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
