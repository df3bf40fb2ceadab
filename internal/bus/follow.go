package bus

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/nats-io/nats.go"

	"choiros/internal/choir"
)

// Follow calls fn for every event after number seq, in order, exactly once, from one
// goroutine. It reads gaps from the log. It returns when ctx ends or fn returns an error.
func (c *Client) Follow(ctx context.Context, seq uint64, fn func(choir.Event) error) error {
	owner := string(c.cfg.User) + "." + string(c.cfg.Computer)
	// Exactly as wide as the permission: the server refuses anything wider.
	r := &reader{client: c, seq: seq, fn: fn}
	r.catchUp, r.isNext = r.catchUpAll, r.isNextOfAll
	return r.follow(ctx, "user."+owner+".>", "agent."+owner+".*.>")
}

// FollowTasks does the same as Follow for the events of the task feed only, see
// choir.InTaskFeed.
func (c *Client) FollowTasks(ctx context.Context, seq uint64, fn func(choir.Event) error) error {
	r := &reader{client: c, seq: seq, fn: fn}
	r.catchUp, r.isNext = r.catchUpTasks, r.isNextTask
	var subjects []string
	for _, t := range choir.TaskFeed() {
		subjects = append(subjects, TaskFeedSubject(c.cfg.User, c.cfg.Computer, t))
	}
	return r.follow(ctx, subjects...)
}

// reader is the state of one Follow or FollowTasks.
type reader struct {
	client *Client
	seq    uint64 // every event up to it was passed to fn or is not for this reader
	fn     func(choir.Event) error

	catchUp func(ctx context.Context) error       // passes the log's events after seq to fn
	isNext  func(m *nats.Msg, e choir.Event) bool // reports that no event is missing between seq and e
}

// follow catches up with the log and then passes the messages on subjects to fn, until ctx
// ends or an error.
func (r *reader) follow(ctx context.Context, subjects ...string) error {
	c := r.client
	f, err := c.listen(ctx, subjects...)
	if err != nil {
		return err
	}
	defer c.unlisten(f)
	err = r.catchUp(ctx)
	for err == nil {
		select {
		case <-ctx.Done():
		case <-c.life.Done():
			return ErrClosed
		case <-f.pokes:
			err = r.catchUp(ctx)
		case m := <-f.messages:
			err = r.handleMessage(ctx, m)
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

// handleMessage passes the next event to fn, ignores events up to r.seq, and catches up
// with the log if events are missing.
func (r *reader) handleMessage(ctx context.Context, m *nats.Msg) error {
	var e choir.Event
	if err := json.Unmarshal(m.Data, &e); err != nil {
		return choir.Wrap("bus.follow", choir.CodeInternal, err, "read an event on %s", m.Subject)
	}
	switch {
	case e.Seq <= r.seq:
		return nil
	case !r.isNext(m, e):
		return r.catchUp(ctx)
	}
	return r.hand(e)
}

// hand passes an event to fn and, if fn succeeds, advances r.seq to it.
func (r *reader) hand(e choir.Event) error {
	if err := r.fn(e); err != nil {
		return err
	}
	r.seq = e.Seq
	return nil
}

// isNextOfAll reports whether e is the event after r.seq.
func (r *reader) isNextOfAll(_ *nats.Msg, e choir.Event) bool { return e.Seq == r.seq+1 }

// catchUpAll passes the log's events after r.seq to fn.
func (r *reader) catchUpAll(ctx context.Context) error {
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

// isNextTask reports whether the message's previous event of the task feed is at or before r.seq.
func (r *reader) isNextTask(m *nats.Msg, _ choir.Event) bool {
	before, err := strconv.ParseUint(m.Header.Get(BeforeHeader), 10, 64)
	return err == nil && before <= r.seq
}

// catchUpTasks passes the events of the task feed after r.seq to fn.
func (r *reader) catchUpTasks(ctx context.Context) error {
	for {
		var reply choir.TasksAfterReply
		if err := r.client.Call(ctx, choir.VerbTasksAfter, choir.TasksAfterRequest{Seq: r.seq}, &reply); err != nil {
			return err
		}
		for _, e := range reply.Events {
			if e.Seq <= r.seq {
				return choir.E("bus.follow", choir.CodeInternal, "event %d came after event %d", e.Seq, r.seq)
			}
			if err := r.hand(e); err != nil {
				return err
			}
		}
		if reply.Next < r.seq || reply.Next == r.seq && len(reply.Events) == 0 {
			return nil
		}
		if r.seq = reply.Next; r.seq >= reply.Head {
			return nil
		}
	}
}
