package computer

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/fault"
	"choiros/internal/snapshot"
)

// taskBegin takes a task up: the workspace as it is becomes the base of its
// rollback. A redelivered task keeps the base of its first delivery. With since,
// the base is compared with that snapshot.
func (c *Computer) taskBegin(ctx context.Context, id choir.ID, since choir.Digest) (choir.TaskBeginReply, error) {
	t, err := c.openTask(ctx, id)
	if err != nil {
		return choir.TaskBeginReply{}, err
	}
	unlock, err := c.workspace.Lock(ctx)
	if err != nil {
		return choir.TaskBeginReply{}, err
	}
	defer unlock()
	if other, err := c.workspace.TaskAtWork(ctx); err != nil || other != nil && other.ID != id {
		// A base that holds half of another task's work would keep it for ever.
		return choir.TaskBeginReply{}, errorsJoin(choir.E("computer.task", choir.CodeUnavailable, "another task works in the workspace").WithRemedy("it is delivered again after that"), err)
	}
	reply := choir.TaskBeginReply{Base: t.Base, Attempt: t.Attempt + 1, Resumed: t.Attempt > 0}
	var drafts []choir.Draft
	if reply.Resumed {
		if reply.UnfinishedCalls, err = c.unfinishedCalls(ctx, t); err != nil {
			return reply, err
		}
	} else {
		now, _, err := c.workspace.Scan(ctx)
		if err != nil {
			return reply, err
		}
		reply.Base = now.Root
		if drafts, err = c.workspace.Record(ctx, now, "task_started", false); err != nil {
			return reply, err
		}
	}
	reply.Changed, reply.Compared = c.since(ctx, since, reply.Base)
	d, err := c.events.Draft(choir.TaskStarted{Base: reply.Base, Attempt: reply.Attempt})
	if err != nil {
		return reply, err
	}
	err = c.workspace.AppendAll(ctx, choir.RoleControl, append(drafts, d.ForRun(t.Run, t.ID)))
	c.store.CatchUp() // while commands run; the look after them asks about the task
	return reply, err
}

// maxCompared bounds the paths in the answer to a task's begin, in bytes.
const maxCompared = 256 << 10

// since lists the files that differ between two snapshots, outside of .git. It
// is not whole when there is nothing to compare with, or too much differs: then
// whoever asked must look for itself.
func (c *Computer) since(ctx context.Context, from, to choir.Digest) (paths []string, whole bool) {
	if from == "" {
		return nil, false
	}
	changes, err := snapshot.Diff(ctx, c.keeper, from, to)
	if err != nil {
		return nil, false // a snapshot that the caller made up, or that is gone
	}
	size := 0
	for _, ch := range snapshot.FileChanges(changes) {
		for _, p := range []string{ch.From, ch.Path} {
			if p != "" && !workspace.InGit(p) {
				paths = append(paths, p)
				size += len(p) + 8
			}
		}
	}
	if size > maxCompared {
		return nil, false
	}
	return paths, true
}

// openTask is a task that is dispatched and not yet answered.
func (c *Computer) openTask(ctx context.Context, id choir.ID) (eventstore.Task, error) {
	t, err := c.store.Task(ctx, id)
	if err == nil && t.Result != nil && !fault.NoTaskKeys {
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
	for e, err := range c.store.EventsOfRun(ctx, t.Run, t.DispatchedSeq-1) {
		if err != nil {
			return err
		}
		if _, known := choir.LookupType(e.Type); e.Task != t.ID || !known {
			continue
		}
		p, err := choir.ReadPayload(e.Type, e.Payload)
		if err != nil {
			return err
		}
		visit(e, p)
	}
	return nil
}

// taskTree compares the workspace with the base of a task.
func (c *Computer) taskTree(ctx context.Context, id choir.ID) (choir.TaskTreeReply, error) {
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

// taskCommit makes what a task changed part of the log. Only the given folders
// are looked at, when there are any.
func (c *Computer) taskCommit(ctx context.Context, id choir.ID, reason string, only []string) (choir.TaskCommitReply, error) {
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
