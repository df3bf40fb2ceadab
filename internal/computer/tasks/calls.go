package tasks

import (
	"cmp"
	"context"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// RecordAround scans the workspace if the Associate's drafts begin or end a tool call that
// may write, and appends the changes. So the changes before and during a call stand in the
// log right before its events, and every moment between two calls is exact. A refused
// call, whose two events come together, is not scanned. Code needs_user: a call would begin
// while the run is paused.
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
		// The Associate may not have heard of the pause yet.
		if seq, err := c.history.pausedSeq(ctx, d.Run); err != nil || seq > 0 {
			return cmp.Or(err, error(choir.E("computer.task", choir.CodeNeedsInput, "run %s is paused: nothing begins until its owner lets it go on", d.Run)))
		}
		if p.Writes {
			return c.recordCallOf(ctx, d, "tool_called", "")
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
			return c.recordCallOf(ctx, d, "tool_returned", called.ID)
		}
	}
	return nil
}

// recordCallOf calls recordCall for the task of a draft.
func (c *Changes) recordCallOf(ctx context.Context, d *choir.Draft, reason string, cause choir.ID) error {
	t, err := c.scopes.task(ctx, c.log, d.Task)
	if err != nil {
		return err
	}
	t.Run, t.ID = d.Run, d.Task // which the store holds against the log
	if t.InWorktree() {
		return c.history.mustBeOpen(ctx, t.ID) // it has nothing in the workspace
	}
	return c.recordCall(ctx, &t, reason, cause)
}

// recordCall appends the changes in the workspace since the last scan, as the task's in
// its scope, or as the owner's if a terminal was used before the call. Changes in the
// scopes of other tasks are those tasks'.
func (c *Changes) recordCall(ctx context.Context, t *eventstore.Task, reason string, cause choir.ID) error {
	unlock, err := c.workspace.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.history.mustBeOpen(ctx, t.ID); err != nil {
		return err
	}
	now, _, err := c.workspace.Scan(ctx)
	if err != nil {
		return c.allowUnseen(ctx, t.ID, err)
	}
	if c.workspace.ByTerminal(reason) {
		return c.workspace.RecordOwnersBeside(ctx, now, t)
	}
	return c.workspace.RecordTask(ctx, now, reason, false, t, cause)
}

// allowUnseen returns nil if a tool call may go on although the scan failed with err: the
// next scan finds the changes. It returns err if ctx ended or the disk is full.
func (c *Changes) allowUnseen(ctx context.Context, task choir.ID, err error) error {
	if ctx.Err() != nil || choir.CodeOf(err) == choir.CodeNoSpace {
		return err
	}
	c.logger.Warn("no snapshot around a tool call", "computer", c.computer, "task", task, "error", err)
	return nil
}
