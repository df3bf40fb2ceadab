package computer

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
)

// ownEvents is the log without the past that a fork or an import came with: that
// was published by the computer it is of.
type ownEvents struct {
	*eventstore.Store
	begins uint64
}

// EventsAfter gives up to limit of the computer's own events after seq, in order.
func (o ownEvents) EventsAfter(ctx context.Context, seq uint64, limit int) ([]choir.Event, error) {
	return o.Store.EventsAfter(ctx, max(seq, o.begins-1), limit)
}

// furnish puts the last snapshot of the log into the workspace of a computer that
// was just made from another's past. It is done once: a crash on the way leaves
// the note, and what was restored is restored again.
func (c *Computer) furnish(ctx context.Context, client *guest.Client) error {
	note := filepath.Join(c.cfg.Dir, restoreName)
	if _, err := os.Stat(note); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	root, err := c.lastSnapshot(ctx)
	if err != nil {
		return err
	}
	if root != "" {
		if _, err := client.Restore(ctx, root, c.keeper, guest.RestoreOptions{}); err != nil {
			return choir.Wrap("computer.furnish", "", err, "fill the workspace")
		}
	}
	if err := os.Remove(note); err != nil {
		return choir.Wrap("computer.furnish", choir.CodeUnavailable, err, "note that the workspace is filled")
	}
	return choir.Wrap("computer.furnish", choir.CodeUnavailable, syncFolder(c.cfg.Dir), "note that the workspace is filled")
}

// Forked says in the log that another computer begins with this one's past; once
// for each.
func (c *Computer) Forked(ctx context.Context, role choir.Role, fork choir.ID, seq uint64) error {
	d, err := choir.NewDraft(choir.DeriveID(fork, "forked"), choir.TimelineForked{Computer: fork, Seq: seq})
	if err == nil {
		_, err = c.store.Append(ctx, role, d)
	}
	return err
}

// ForkedFrom is the computer that this one was forked from, and the last event
// both have; empty when it was not.
func (c *Computer) ForkedFrom(ctx context.Context) (choir.ID, uint64, error) {
	begins, err := c.store.Begins(ctx, c.cfg.ID)
	if err != nil || begins == 1 {
		return "", 0, err
	}
	events, err := c.store.EventsAfter(ctx, begins-1, 1)
	if err != nil || len(events) == 0 || events[0].Type != "computer.forked" {
		return "", 0, err
	}
	p, err := choir.DecodePayload(events[0].Type, events[0].Payload)
	if err != nil {
		return "", 0, err
	}
	f := p.(*choir.ComputerForked)
	return f.From, f.Seq, nil
}
