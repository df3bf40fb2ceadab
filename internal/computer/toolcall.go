package computer

import (
	"context"

	"choiros/internal/choir"
)

// appendFrom appends what a sandbox's role asks for. Around a tool call that may
// write, the workspace is looked at first: what changed before it, and what it
// changed, is in the log right before the event that tells of the call, so that
// every moment between two calls is exact.
func (c *Computer) appendFrom(ctx context.Context, role choir.Role, drafts []choir.Draft) ([]choir.Receipt, error) {
	if role == choir.RoleAssociate {
		if err := c.aroundCall(ctx, drafts); err != nil {
			return nil, err
		}
	}
	return c.desk.Append(ctx, role, drafts...)
}

// aroundCall records what changed when the drafts begin or end a call that may
// write. A call that was refused begins and ends in one append, and ran nothing.
func (c *Computer) aroundCall(ctx context.Context, drafts []choir.Draft) error {
	if len(drafts) != 1 || drafts[0].Type != choir.TypeToolCalled && drafts[0].Type != choir.TypeToolReturned {
		return nil
	}
	d := &drafts[0]
	p, err := choir.DecodePayload(d.Type, d.Payload)
	if err != nil {
		return nil // the store says what is wrong with it
	}
	if _, err := c.store.Event(ctx, d.ID); choir.CodeOf(err) != choir.CodeNotFound {
		return err // sent once more
	}
	switch p := p.(type) {
	case *choir.ToolCalled:
		if p.Writes {
			return c.look(ctx, d, "tool_called", "")
		}
	case *choir.ToolReturned:
		called, err := c.store.First(ctx, choir.TypeToolCalled, string(p.Call))
		if choir.CodeOf(err) == choir.CodeNotFound {
			return nil
		}
		if err != nil {
			return err
		}
		if p, err := choir.ReadPayload(called.Type, called.Payload); err == nil && p.(*choir.ToolCalled).Writes {
			return c.look(ctx, d, "tool_returned", called.ID)
		}
	}
	return nil
}

// look records what changed in the workspace since the last look, as its task's,
// or as the owner's when it was a person at a terminal.
func (c *Computer) look(ctx context.Context, d *choir.Draft, reason string, cause choir.ID) error {
	unlock, err := c.workspace.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	now, _, err := c.workspace.Scan(ctx)
	if err != nil {
		return c.unseen(ctx, d, err)
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

// afterCommand is the look between two commands of a task without a model.
func (c *Computer) afterCommand(ctx context.Context, id choir.ID) (choir.TaskCommitReply, error) {
	t, err := c.startedTask(ctx, id)
	if err == nil {
		err = c.look(ctx, &choir.Draft{Run: t.Run, Task: t.ID}, "tool_returned", "")
	}
	if err != nil {
		return choir.TaskCommitReply{}, err
	}
	last, err := c.workspace.LastSnapshot(ctx)
	return choir.TaskCommitReply{Snapshot: last}, err
}

// unseen decides about a workspace that could not be looked at. A full disk ends
// the call as it would end its events. A tree that does not hold still, or has
// something in it that cannot be read, is no reason to end the work in it: the
// next look finds what this one missed.
func (c *Computer) unseen(ctx context.Context, d *choir.Draft, err error) error {
	if ctx.Err() != nil || choir.CodeOf(err) == choir.CodeNoSpace {
		return err
	}
	c.cfg.Log.Warn("no snapshot around a tool call", "computer", c.cfg.ID, "task", d.Task, "error", err)
	return nil
}
