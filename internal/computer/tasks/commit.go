package tasks

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// Compare takes a snapshot of the workspace. The reply has its digest and, if it differs
// from the task's base, the paths that only the owner changed.
func (c *Changes) Compare(ctx context.Context, id choir.ID) (choir.TaskTreeReply, error) {
	t, unlock, err := c.lockStarted(ctx, id)
	if err != nil {
		return choir.TaskTreeReply{}, err
	}
	defer unlock()
	if t.InWorktree() {
		now, err := c.copies.worktreeNow(ctx, &t)
		return choir.TaskTreeReply{Snapshot: now}, err
	}
	now, _, err := c.workspace.Scan(ctx)
	if err != nil {
		return choir.TaskTreeReply{}, err
	}
	changes, err := snapshot.Diff(ctx, c.keeper, t.Base, now.Root)
	if err != nil || len(changes) == 0 {
		return choir.TaskTreeReply{Snapshot: now.Root}, err
	}
	w, err := c.rollbacks.writersOf(ctx, &t, now.Root)
	return choir.TaskTreeReply{Snapshot: now.Root, Owner: w.onlyOwner()}, err
}

// Commit takes a snapshot of the workspace and appends the task's changes since the last
// one, with reason. If only is not empty, only those folders are scanned.
func (c *Changes) Commit(ctx context.Context, id choir.ID, reason string, only []string) (choir.TaskCommitReply, error) {
	t, unlock, err := c.lockStarted(ctx, id)
	if err != nil {
		return choir.TaskCommitReply{}, err
	}
	defer unlock()
	if t.InWorktree() {
		now, err := c.copies.worktreeNow(ctx, &t)
		return choir.TaskCommitReply{Snapshot: now}, err
	}
	now, _, err := c.workspace.Scan(ctx, only...)
	if err != nil {
		return choir.TaskCommitReply{}, err
	}
	err = c.workspace.RecordTask(ctx, now, reason, reason == "checkpoint", &t, "")
	c.log.CatchUp() // the result comes next, and its append asks about the task
	return choir.TaskCommitReply{Snapshot: now.Root}, err
}

// CommitCommand appends the changes since the last scan as those of a command of a task
// without a model, and returns the last snapshot.
func (c *Changes) CommitCommand(ctx context.Context, id choir.ID) (choir.TaskCommitReply, error) {
	t, err := c.history.startedTask(ctx, id)
	if err == nil && t.InWorktree() {
		return c.Commit(ctx, id, "tool_returned", nil)
	}
	if err == nil {
		err = c.recordCall(ctx, &t, "tool_returned", "")
	}
	if err != nil {
		return choir.TaskCommitReply{}, err
	}
	last, err := c.workspace.LastSnapshot(ctx)
	return choir.TaskCommitReply{Snapshot: last}, err
}
