package computer

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// taskBegin takes a task up: the workspace as it is becomes the base of its
// rollback. A redelivered task keeps the base of its first delivery.
func (c *Computer) taskBegin(ctx context.Context, id choir.ID) (choir.TaskBeginReply, error) {
	t, err := c.openTask(ctx, id)
	if err != nil {
		return choir.TaskBeginReply{}, err
	}
	unlock, err := c.lockTree(ctx)
	if err != nil {
		return choir.TaskBeginReply{}, err
	}
	defer unlock()
	reply := choir.TaskBeginReply{Base: t.Base, Attempt: t.Attempt + 1, Resumed: t.Attempt > 0}
	var drafts []choir.Draft
	if reply.Resumed {
		if reply.UnfinishedCalls, err = c.unfinishedCalls(ctx, t); err != nil {
			return reply, err
		}
	} else {
		now, _, err := c.scan(ctx)
		if err != nil {
			return reply, err
		}
		reply.Base = now.Root
		if drafts, err = c.record(ctx, now, "task_started", false); err != nil {
			return reply, err
		}
	}
	d, err := c.draft(choir.TaskStarted{Base: reply.Base, Attempt: reply.Attempt})
	if err != nil {
		return reply, err
	}
	return reply, c.appendAll(ctx, choir.RoleControl, append(drafts, d.ForRun(t.Run, t.ID)))
}

// openTask is a task that is dispatched and not yet answered.
func (c *Computer) openTask(ctx context.Context, id choir.ID) (eventstore.Task, error) {
	t, err := c.store.Task(ctx, id)
	if err == nil && t.Result != nil {
		err = choir.E("computer.task", choir.CodeConflict, "task %s has been answered already", id)
	}
	return t, err
}

// startedTask is an open task with a base.
func (c *Computer) startedTask(ctx context.Context, id choir.ID) (eventstore.Task, error) {
	t, err := c.openTask(ctx, id)
	if err == nil && t.Base == "" {
		err = choir.E("computer.task", choir.CodeConflict, "task %s has not begun", id)
	}
	return t, err
}

// unfinishedCalls are the tool calls of a task that have no return.
func (c *Computer) unfinishedCalls(ctx context.Context, t eventstore.Task) ([]choir.ID, error) {
	var open []choir.ID
	err := c.eachOfTask(ctx, t, func(e choir.Event, p choir.Payload) {
		switch p := p.(type) {
		case *choir.ToolCalled:
			open = append(open, p.Call)
		case *choir.ToolReturned:
			for i, id := range open {
				if id == p.Call {
					open = append(open[:i], open[i+1:]...)
					break
				}
			}
		}
	})
	return open, err
}

// eachOfTask visits the events of a task in order.
func (c *Computer) eachOfTask(ctx context.Context, t eventstore.Task, visit func(choir.Event, choir.Payload)) error {
	for after := t.DispatchedSeq - 1; ; {
		events, err := c.store.EventsOfRun(ctx, t.Run, after, choir.MaxEventsAfter)
		if err != nil || len(events) == 0 {
			return err
		}
		for _, e := range events {
			after = e.Seq
			if e.Task != t.ID {
				continue
			}
			p, err := choir.DecodePayload(e.Type, e.Payload)
			if err != nil {
				return err
			}
			visit(e, p)
		}
	}
}

// taskTree compares the workspace with the base of a task.
func (c *Computer) taskTree(ctx context.Context, id choir.ID) (choir.TaskTreeReply, error) {
	t, err := c.startedTask(ctx, id)
	if err != nil {
		return choir.TaskTreeReply{}, err
	}
	unlock, err := c.lockTree(ctx)
	if err != nil {
		return choir.TaskTreeReply{}, err
	}
	defer unlock()
	now, _, err := c.scan(ctx)
	if err != nil {
		return choir.TaskTreeReply{}, err
	}
	changes, err := snapshot.Diff(ctx, c.keeper, t.Base, now.Root)
	return choir.TaskTreeReply{Snapshot: now.Root, Changes: snapshot.FileChanges(changes)}, err
}

// taskCommit makes what a task changed part of the log.
func (c *Computer) taskCommit(ctx context.Context, id choir.ID, reason string) (choir.TaskCommitReply, error) {
	t, err := c.startedTask(ctx, id)
	if err != nil {
		return choir.TaskCommitReply{}, err
	}
	unlock, err := c.lockTree(ctx)
	if err != nil {
		return choir.TaskCommitReply{}, err
	}
	defer unlock()
	now, _, err := c.scan(ctx)
	if err != nil {
		return choir.TaskCommitReply{}, err
	}
	changes, err := snapshot.Diff(ctx, c.keeper, t.Base, now.Root)
	if err != nil {
		return choir.TaskCommitReply{}, err
	}
	drafts, err := c.record(ctx, now, reason, reason == "checkpoint")
	if err != nil {
		return choir.TaskCommitReply{}, err
	}
	for i := range drafts {
		drafts[i] = drafts[i].ForRun(t.Run, t.ID)
	}
	return choir.TaskCommitReply{Snapshot: now.Root, Changes: snapshot.FileChanges(changes)}, c.appendAll(ctx, choir.RoleControl, drafts)
}

// taskRollback puts the workspace back to the base of a task, in place, except
// for paths the owner wrote meanwhile and those the caller wants kept.
func (c *Computer) taskRollback(ctx context.Context, id choir.ID, keep []string) (choir.TaskRollbackReply, error) {
	t, err := c.startedTask(ctx, id)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	unlock, err := c.lockTree(ctx)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	defer unlock()
	owners, err := c.ownerWrites(ctx, t)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	return c.restore(ctx, t.Base, append(owners, keep...), owners)
}

// restore puts the workspace to a snapshot except for kept paths, and records
// what it is then. Conflicts are owners' paths that stand in the way.
func (c *Computer) restore(ctx context.Context, target choir.Digest, keep, owners []string) (choir.TaskRollbackReply, error) {
	now, client, err := c.scan(ctx)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	changes, err := snapshot.Diff(ctx, c.keeper, target, now.Root)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	plan := snapshot.PlanRollback(changes, keep, func(path string) bool { return below(path, owners) })
	reply := choir.TaskRollbackReply{Conflicts: plan.Conflicts, Restored: int64(len(plan.Restore))}
	if len(plan.Restore) > 0 {
		opts := guest.RestoreOptions{Only: plan.Restore, Narrow: len(plan.Kept) > 0}
		if _, err := client.Restore(ctx, target, c.keeper, opts); err != nil {
			return reply, err
		}
	}
	if now, _, err = c.scan(ctx); err != nil {
		return reply, err
	}
	drafts, err := c.record(ctx, now, "task_ended", false)
	if err != nil {
		return reply, err
	}
	return reply, c.appendAll(ctx, choir.RoleControl, drafts)
}

// ownerWrites are the paths that a person wrote since the task began.
func (c *Computer) ownerWrites(ctx context.Context, t eventstore.Task) ([]string, error) {
	var paths []string
	for after := t.DispatchedSeq; ; {
		events, err := c.store.EventsAfter(ctx, after, choir.MaxEventsAfter)
		if err != nil || len(events) == 0 {
			return paths, err
		}
		for _, e := range events {
			after = e.Seq
			if e.Source != choir.SourceUser && e.Source != choir.SourceDesktop {
				continue
			}
			p, err := choir.DecodePayload(e.Type, e.Payload)
			if err != nil {
				return nil, err
			}
			switch p := p.(type) {
			case *choir.FileWritten:
				for _, f := range p.Files {
					paths = append(paths, f.Path)
				}
			case *choir.FileRemoved:
				paths = append(paths, p.Paths...)
			}
		}
	}
}

// below reports whether the path is one of the given or lies below one.
func below(path string, of []string) bool {
	for _, p := range of {
		if path == p || len(path) > len(p) && path[:len(p)] == p && path[len(p)] == '/' {
			return true
		}
	}
	return false
}
