package tasks

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/snapshot"
)

// Compare scans the workspace and compares it with the base of a task.
func (c *Changes) Compare(ctx context.Context, id choir.ID) (choir.TaskTreeReply, error) {
	t, err := c.startedTask(ctx, id)
	if err != nil {
		return choir.TaskTreeReply{}, err
	}
	unlock, err := c.workspace.Lock(ctx)
	if err != nil {
		return choir.TaskTreeReply{}, err
	}
	defer unlock()
	now, _, err := c.workspace.Scan(ctx)
	if err != nil {
		return choir.TaskTreeReply{}, err
	}
	changes, err := snapshot.Diff(ctx, c.keeper, t.Base, now.Root)
	if err != nil || len(changes) == 0 {
		return choir.TaskTreeReply{Snapshot: now.Root}, err
	}
	w, err := c.writersOf(ctx, &t, now.Root)
	return choir.TaskTreeReply{Snapshot: now.Root, Owner: w.onlyOwner()}, err
}

// Commit appends what a task changed since the last snapshot, for a reason. It scans only
// the given folders, when there are any.
func (c *Changes) Commit(ctx context.Context, id choir.ID, reason string, only []string) (choir.TaskCommitReply, error) {
	t, err := c.startedTask(ctx, id)
	if err != nil {
		return choir.TaskCommitReply{}, err
	}
	unlock, err := c.workspace.Lock(ctx)
	if err != nil {
		return choir.TaskCommitReply{}, err
	}
	defer unlock()
	now, _, err := c.workspace.Scan(ctx, only...)
	if err != nil {
		return choir.TaskCommitReply{}, err
	}
	drafts, err := c.workspace.Record(ctx, now, reason, reason == "checkpoint")
	if err != nil {
		return choir.TaskCommitReply{}, err
	}
	return choir.TaskCommitReply{Snapshot: now.Root}, c.workspace.AppendAll(ctx, choir.RoleControl, workspace.ForTask(drafts, &t))
}

// CommitCommand appends what the last command of a task without a model changed.
func (c *Changes) CommitCommand(ctx context.Context, id choir.ID) (choir.TaskCommitReply, error) {
	t, err := c.startedTask(ctx, id)
	if err == nil {
		err = c.recordCall(ctx, &choir.Draft{Run: t.Run, Task: t.ID}, "tool_returned", "")
	}
	if err != nil {
		return choir.TaskCommitReply{}, err
	}
	last, err := c.workspace.LastSnapshot(ctx)
	return choir.TaskCommitReply{Snapshot: last}, err
}
