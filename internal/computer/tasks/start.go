package tasks

import (
	"context"
	"errors"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/snapshot"
)

// Start appends that a task works from now on: the workspace as it is becomes the base of
// its rollback. A redelivered task keeps the base of its first delivery. With since, the
// base is compared with that snapshot. Code unavailable while another task works.
func (c *Changes) Start(ctx context.Context, id choir.ID, since choir.Digest) (choir.TaskBeginReply, error) {
	t, err := c.openTask(ctx, id)
	if err != nil {
		return choir.TaskBeginReply{}, err
	}
	unlock, err := c.workspace.Lock(ctx)
	if err != nil {
		return choir.TaskBeginReply{}, err
	}
	defer unlock()
	if err := c.mustBeAlone(ctx, id); err != nil {
		return choir.TaskBeginReply{}, err
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
	c.log.CatchUp() // while commands run; the look after them asks about the task
	return reply, err
}

// mustBeAlone refuses a task while another works: a base that holds half of another
// task's work would keep it for ever.
func (c *Changes) mustBeAlone(ctx context.Context, id choir.ID) error {
	other, err := c.workspace.TaskAtWork(ctx)
	if err == nil && (other == nil || other.ID == id) {
		return nil
	}
	busy := choir.E("computer.task", choir.CodeUnavailable, "another task works in the workspace").WithRemedy("it is delivered again after that")
	if err != nil {
		return errors.Join(busy, err)
	}
	return busy
}

// maxCompared bounds the paths in the answer to a task's begin, in bytes.
const maxCompared = 256 << 10

// since lists the files that differ between two snapshots, outside of .git. It
// is not whole when there is nothing to compare with, or too much differs: then
// whoever asked must look for itself.
func (c *Changes) since(ctx context.Context, from, to choir.Digest) (paths []string, whole bool) {
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

// unfinishedCalls are the tool calls of a task that have no return.
func (c *Changes) unfinishedCalls(ctx context.Context, t eventstore.Task) ([]choir.ID, error) {
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
func (c *Changes) eachOfTask(ctx context.Context, t eventstore.Task, visit func(choir.Event, choir.Payload)) error {
	for e, err := range c.log.EventsOfRun(ctx, t.Run, t.DispatchedSeq-1) {
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
