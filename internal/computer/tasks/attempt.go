package tasks

import (
	"context"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// RestoreAttempt restores what the attempt that a started task names had changed, and
// appends it as the task's change. Paths that changed since that attempt began, and what
// lies in .git folders, stay as they are. Code invalid: the named task is none of the
// run's and the project's that left an attempt; not_found: its content is not stored.
func (c *Changes) RestoreAttempt(ctx context.Context, id choir.ID) (choir.TaskAttemptReply, error) {
	var reply choir.TaskAttemptReply
	t, unlock, err := c.lockStarted(ctx, id)
	if err != nil {
		return reply, err
	}
	defer unlock()
	from, err := c.history.attemptOf(ctx, &t)
	if err != nil {
		return reply, err
	}
	tried := from.Result.Attempt
	if t.InWorktree() {
		return c.restoreAttemptInCopy(ctx, &t, from)
	}
	now, client, err := c.workspace.Scan(ctx)
	if err != nil {
		return reply, err
	}
	scope := c.workspace.Scope(&t)
	meanwhile, err := contentChanges(ctx, c.keeper, scope, from.Base, now.Root)
	if err != nil {
		return reply, err
	}
	if now, meanwhile, err = c.workspace.ClearWay(ctx, client, scope, tried, now, meanwhile); err != nil {
		return reply, err
	}
	changes, err := snapshot.Diff(ctx, c.keeper, tried, now.Root)
	if err != nil {
		return reply, err
	}
	plan := snapshot.PlanRollback(outsideOfGit(scope.Within(changes)), meanwhile, nil)
	reply.Restored, reply.Left = int64(len(plan.Restore)), plan.Kept
	if len(plan.Restore) == 0 {
		return reply, nil
	}
	if _, err := c.workspace.RestoreTree(ctx, client, tried, guest.RestoreOptions{Only: plan.Restore, Narrow: true}); err != nil {
		return reply, err
	}
	if now, _, err = c.workspace.Scan(ctx); err != nil {
		return reply, err
	}
	return reply, c.workspace.RecordTask(ctx, now, "task_started", false, &t, "")
}

// restoreAttemptInCopy does the work of RestoreAttempt for a task that works in a copy.
func (c *Changes) restoreAttemptInCopy(ctx context.Context, t *eventstore.Task, from eventstore.Task) (reply choir.TaskAttemptReply, err error) {
	tried := from.Result.Attempt
	now, err := c.copies.worktreeNow(ctx, t)
	if err != nil {
		return reply, err
	}
	scope := copiedScope(t)
	meanwhile, err := contentChanges(ctx, c.keeper, scope, from.Base, now)
	if err != nil {
		return reply, err
	}
	changes, err := snapshot.Diff(ctx, c.keeper, tried, now)
	if err != nil {
		return reply, err
	}
	plan := snapshot.PlanRollback(outsideOfGit(scope.Within(changes)), meanwhile, nil)
	reply.Restored, reply.Left = int64(len(plan.Restore)), plan.Kept
	if len(plan.Restore) == 0 {
		return reply, nil
	}
	return reply, c.copies.restore(ctx, t, tried, plan.Restore)
}

// contentChanges returns the paths in the scope at which two snapshots differ in more than
// times and the content of folders.
func contentChanges(ctx context.Context, keeper *snapshot.Keeper, scope workspace.Scope, from, to choir.Digest) (paths []string, err error) {
	changes, err := snapshot.Diff(ctx, keeper, from, to)
	if err != nil {
		return nil, err
	}
	for _, ch := range outsideOfGit(snapshot.Apart(scope.Within(changes))) {
		isFolder := ch.Before != nil && ch.After != nil && ch.Before.Kind == snapshot.Dir && ch.After.Kind == snapshot.Dir
		if !isFolder && !ch.TimeOnly() {
			paths = append(paths, ch.Path)
		}
	}
	return paths, nil
}

// outsideOfGit returns the changes outside of .git folders.
func outsideOfGit(changes []snapshot.Change) []snapshot.Change {
	return slices.DeleteFunc(snapshot.Apart(changes), func(ch snapshot.Change) bool { return workspace.InGit(ch.Path) })
}
