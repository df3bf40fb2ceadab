package tasks

import (
	"context"

	"choiros/internal/choir"
)

// RecordAround appends what changed in the workspace when the Associate's drafts begin or
// end a tool call that may write. What changed before the call, and what the call changed,
// is then in the log right before the event that tells of the call, so that every moment
// between two calls is exact. A call that was refused begins and ends in one append, and
// ran nothing.
func (c *Changes) RecordAround(ctx context.Context, drafts []choir.Draft) error {
	if len(drafts) != 1 || drafts[0].Type != choir.TypeToolCalled && drafts[0].Type != choir.TypeToolReturned {
		return nil
	}
	d := &drafts[0]
	p, err := choir.DecodePayload(d.Type, d.Payload)
	if err != nil {
		return nil // the store says what is wrong with it
	}
	if _, err := c.log.Event(ctx, d.ID); choir.CodeOf(err) != choir.CodeNotFound {
		return err // sent once more
	}
	switch p := p.(type) {
	case *choir.ToolCalled:
		if p.Writes {
			return c.recordCall(ctx, d, "tool_called", "")
		}
	case *choir.ToolReturned:
		called, err := c.log.First(ctx, choir.TypeToolCalled, string(p.Call))
		if choir.CodeOf(err) == choir.CodeNotFound {
			return nil
		}
		if err != nil {
			return err
		}
		if p, err := choir.ReadPayload(called.Type, called.Payload); err == nil && p.(*choir.ToolCalled).Writes {
			return c.recordCall(ctx, d, "tool_returned", called.ID)
		}
	}
	return nil
}

// recordCall appends what changed in the workspace since the last look, as a draft's
// task's, or as the owner's when it was a person at a terminal.
func (c *Changes) recordCall(ctx context.Context, d *choir.Draft, reason string, cause choir.ID) error {
	unlock, err := c.workspace.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	now, _, err := c.workspace.Scan(ctx)
	if err != nil {
		return c.allowUnseen(ctx, d, err)
	}
	if c.workspace.ByTerminal(reason) {
		return c.workspace.RecordOwners(ctx, now)
	}
	drafts, err := c.workspace.Record(ctx, now, reason, false)
	if err != nil {
		return err
	}
	for i := range drafts {
		drafts[i] = drafts[i].ForRun(d.Run, d.Task).CausedBy(cause)
	}
	return c.workspace.AppendAll(ctx, choir.RoleControl, drafts)
}

// allowUnseen decides whether a call goes on in a workspace that could not be scanned, and
// returns the error when it does not. A full disk ends the call as it would end its
// events. A tree that does not hold still, or has something in it that cannot be read, is
// no reason to end the work in it: the next look finds what this one missed.
func (c *Changes) allowUnseen(ctx context.Context, d *choir.Draft, err error) error {
	if ctx.Err() != nil || choir.CodeOf(err) == choir.CodeNoSpace {
		return err
	}
	c.logger.Warn("no snapshot around a tool call", "computer", c.computer, "task", d.Task, "error", err)
	return nil
}
