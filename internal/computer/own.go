package computer

import (
	"context"
	"iter"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/eventstore"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// ownEvents is the log without the past that a fork or an import came with: that
// was published by the computer it is of.
type ownEvents struct {
	store  *eventstore.Store
	begins uint64
}

// At reads one of the computer's own events. Code not_found, also for one of the
// past.
func (o ownEvents) At(ctx context.Context, seq uint64) (choir.Event, error) {
	if seq < o.begins {
		return choir.Event{}, choir.E("computer.events", choir.CodeNotFound, "event %d is of another computer", seq)
	}
	return o.store.At(ctx, seq)
}

// Events reads the computer's own events in a range, see eventstore.Store.
func (o ownEvents) Events(ctx context.Context, from, to uint64) iter.Seq2[choir.Event, error] {
	return o.store.Events(ctx, max(from, o.begins), to)
}

// WaitPast returns when the log has an event after a number, see eventstore.Store.
func (o ownEvents) WaitPast(ctx context.Context, seq uint64) error { return o.store.WaitPast(ctx, seq) }

// beginsAt is the first event that the computer has alone: 1 without a past of
// another's.
func (c *Computer) beginsAt(ctx context.Context) (uint64, error) {
	if known := c.begins.Load(); known != 0 {
		return known, nil
	}
	begins, err := c.store.Begins(ctx, c.cfg.ID)
	if err == nil {
		c.begins.Store(begins)
	}
	return begins, err
}

// mustBeOurs refuses a log that another computer wrote: a folder that was moved
// by hand.
func (c *Computer) mustBeOurs(ctx context.Context) error {
	head, _ := c.store.Head()
	begins, err := c.beginsAt(ctx)
	if err != nil || head == 0 || begins <= head || c.store.ReadOnly() != "" {
		return err
	}
	return choir.E("computer.open", choir.CodeConflict, "the log in %s is of another computer than %s", c.cfg.Dir, c.cfg.ID).
		WithRemedy("put the folder back under the id its log has; to copy a computer: choir fork, or choir export and import")
}

// available is the tree that is left of a snapshot without content that is not in
// the store, and the paths of that: files that looked like keys stayed behind when
// the computer was forked or exported. With a past of its own it has everything.
// A tree whose root is gone was collected: code not_found.
func (c *Computer) available(ctx context.Context, root choir.Digest) (choir.Digest, []string, error) {
	if _, err := c.keeper.Size(ctx, root); choir.CodeOf(err) == choir.CodeNotFound {
		return "", nil, choir.E("computer.moment", choir.CodeNotFound, "the workspace of this moment was collected").
			WithRemedy("the moments at which a task began or ended are kept: choir timeline")
	}
	if begins, err := c.beginsAt(ctx); err != nil || begins == 1 {
		return root, nil, err
	}
	if _, _, err := c.keeper.Verify(ctx, root); choir.CodeOf(err) != choir.CodeNotFound {
		return root, nil, err
	}
	return timeline.Prune(ctx, c.keeper, root, func(_ string, e *snapshot.Entry) (bool, error) {
		_, err := c.keeper.Size(ctx, e.Digest())
		if choir.CodeOf(err) == choir.CodeNotFound {
			return true, nil
		}
		return false, err
	})
}

// Forked says in the log that another computer begins with this one's past; once
// for each.
func (c *Computer) Forked(ctx context.Context, role choir.Role, fork choir.ID, seq uint64) error {
	d, err := choir.NewDraft(choir.DeriveID(fork, "forked"), choir.TimelineForked{Computer: fork, Seq: seq})
	if err == nil {
		_, err = c.events.AppendAs(ctx, role, d)
	}
	return appender.UnlessSaid(err, role, choir.TypeTimelineForked)
}

// ForkedFrom is the computer that this one was forked from, and the last event
// both have; empty when it was not.
func (c *Computer) ForkedFrom(ctx context.Context) (choir.ID, uint64, error) {
	begins, err := c.beginsAt(ctx)
	if err != nil || begins == 1 {
		return "", 0, err
	}
	e, err := c.store.At(ctx, begins)
	if err != nil || e.Type != choir.TypeComputerForked {
		return "", 0, err
	}
	p, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return "", 0, err
	}
	f := p.(*choir.ComputerForked)
	return f.From, f.Seq, nil
}
