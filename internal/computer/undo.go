package computer

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
	"choiros/internal/timeline"
)

// Undo takes back what one task or one tool call changed in the workspace, and
// keeps what came after. Code conflict, with the paths in Applied, when something
// later depends on it; not_found when there is no such action. With dryRun it only
// says what would change.
func (c *Computer) Undo(ctx context.Context, role choir.Role, of choir.ID, dryRun bool) (Applied, error) {
	before, after, err := c.action(ctx, of)
	if err != nil {
		return Applied{}, err
	}
	return c.apply(ctx, role, step{
		base: after, theirs: before, reason: "undo", why: choir.TerminalUndo, words: "An action was undone; this terminal has ended.",
		record: func(before, now choir.Digest, files int64) choir.Payload {
			return choir.TimelineUndone{Of: of, Snapshot: now, Before: before, Files: files}
		},
	}, dryRun)
}

// action finds the workspace before and after a task or a tool call.
func (c *Computer) action(ctx context.Context, of choir.ID) (before, after choir.Digest, err error) {
	t, err := c.store.Task(ctx, of)
	if err == nil {
		return c.taskAction(ctx, t)
	}
	if choir.CodeOf(err) != choir.CodeNotFound {
		return "", "", err
	}
	called, err := c.callEvent(ctx, of, "called")
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", "", choir.E("computer.undo", choir.CodeNotFound, "%s is neither a task nor a tool call of this computer", of).WithRemedy("choir timeline lists them")
	} else if err != nil {
		return "", "", err
	}
	returned, err := c.callEvent(ctx, of, "returned")
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", "", choir.E("computer.undo", choir.CodeConflict, "tool call %s has not returned", of).WithRemedy("undo its task once that has ended: %s", called.Task)
	} else if err != nil {
		return "", "", err
	}
	if before, err = c.Moment(ctx, called.Seq); err == nil {
		after, err = c.Moment(ctx, returned.Seq)
	}
	return before, after, err
}

// callEvent is one of the two events of a tool call: called or returned.
func (c *Computer) callEvent(ctx context.Context, call choir.ID, which string) (choir.Event, error) {
	return c.store.First(ctx, choir.Type("tool."+which), string(call))
}

// taskAction is what a task changed: without what the owner wrote meanwhile,
// which is not the task's to be taken back.
func (c *Computer) taskAction(ctx context.Context, t eventstore.Task) (before, after choir.Digest, err error) {
	if t.Result == nil {
		return "", "", choir.E("computer.undo", choir.CodeConflict, "task %s has not ended", t.ID).WithRemedy("stop its run: choir run %s --cancel", t.Run)
	}
	if t.Base == "" {
		return "", "", choir.E("computer.undo", choir.CodeConflict, "task %s never began, so there is nothing to undo", t.ID)
	}
	if t.Base, _, err = c.available(ctx, t.Base); err != nil {
		return "", "", err
	}
	if after, err = c.Moment(ctx, t.ReturnedSeq); err != nil {
		return "", "", err
	}
	owners, err := c.wroteDuring(ctx, &t)
	if err != nil || len(owners) == 0 {
		return t.Base, after, err
	}
	before, err = timeline.Graft(ctx, c.keeper, t.Base, after, owners)
	return before, after, err
}

// wroteDuring are the paths that the owner wrote while a task worked, and the
// task did not.
func (c *Computer) wroteDuring(ctx context.Context, t *eventstore.Task) ([]string, error) {
	w := writers{owner: map[string]choir.Digest{}, task: map[string]bool{}}
	for after := t.StartedSeq; after < t.ReturnedSeq; {
		events, err := c.store.EventsAfter(ctx, after, choir.MaxEventsAfter)
		if err != nil || len(events) == 0 {
			return nil, err
		}
		for i := range events {
			if after = events[i].Seq; after >= t.ReturnedSeq {
				break
			}
			if err := w.take(&events[i], t.ID); err != nil {
				return nil, err
			}
		}
	}
	return w.onlyOwner(), nil
}
