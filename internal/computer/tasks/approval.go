package tasks

import (
	"context"
	"slices"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// A task whose result the owner may have to approve works in a whole copy of its project, or of
// the workspace: to its end, its verification and its commits included. What the project has
// by then is brought into the copy, not the other way. What is in the copy then comes into the
// workspace exactly as it is, or is held.

// belongsAside reports whether a task is to work in a whole copy: a rule could be about it, it
// has not begun in the workspace, and its commands can be confined to the copy.
func (c *Changes) belongsAside(t *eventstore.Task) bool {
	begun := t.Base != "" && !t.InWorktree()
	return !t.Task.Worktree && !begun && !t.Landed && c.workspace.Confines() && copyable(&t.Task) && c.approvals.Concern(&t.Task)
}

// copyable reports whether a task can work in a copy. Tasks of git work on the repository itself,
// and tasks that inspect leave nothing.
func copyable(t *choir.DirectorTask) bool {
	return t.Kind == choir.TaskEditRepo || t.Kind == choir.TaskRun
}

// mayWait reports whether the result of a task in a copy may have to wait for the owner.
func (c *Changes) mayWait(t *eventstore.Task) bool {
	return !t.Task.Worktree || c.approvals.Concern(&t.Task)
}

// LandCommitted brings exactly what a task left in its copy into the workspace, as the task's
// change, after Land replied Aside. The reply has Aside, and nothing came into the workspace, if
// a rule demands an approval: the result, once it is appended, is held. It has Moved if the project
// changed meanwhile, which is merged into the copy as by Land: commits there are undone. It may
// be called again, which ends what was cut off.
func (c *Changes) LandCommitted(ctx context.Context, id choir.ID) (choir.TaskLandReply, error) {
	var reply choir.TaskLandReply
	l, err := c.lockLanding(ctx, id)
	if err != nil {
		return reply, err
	}
	defer l.unlock()
	t, beside, now, client := l.task, l.beside, l.now, l.client
	if t.InWorktree() {
		var refreshed bool
		if reply, refreshed, err = c.refreshCopy(ctx, &t, now, nil); refreshed {
			reply.Moved = true
		}
		if err != nil || refreshed || len(reply.Conflicts) > 0 {
			return reply, err
		}
	}
	offered, _, err := c.copies.offeredByCopy(ctx, &t)
	if err != nil {
		return reply, err
	}
	if t.InWorktree() {
		waits, err := c.approvals.Demand(ctx, offered)
		if err != nil || waits {
			return choir.TaskLandReply{Base: t.Base, Aside: true}, err
		}
		if err := c.workspace.RecordTask(ctx, now, "task_started", false, &t, ""); err != nil {
			return reply, err
		}
	}
	target, err := c.exactly(ctx, offered, now)
	if err != nil {
		return reply, err
	}
	if err := c.enterProject(ctx, &t, now.Root, beside); err != nil {
		return reply, err
	}
	reply = choir.TaskLandReply{Base: t.Base}
	reply.Snapshot, err = c.carryOutExactly(context.WithoutCancel(ctx), client, &t, target, now)
	return reply, err
}

// exactly returns the tree that was scanned with what a task offers, each path as it is there.
func (c *Changes) exactly(ctx context.Context, o Offered, now snapshot.Result) (timeline.Merged, error) {
	changes, err := snapshot.Diff(ctx, c.keeper, o.Task.Base, o.Snapshot)
	if err != nil {
		return timeline.Merged{}, err
	}
	out := timeline.Merged{Root: now.Root}
	paths := slices.DeleteFunc(pathsOf(snapshot.Apart(changes)), func(path string) bool { return workspace.Below(path, now.Left) })
	if len(paths) > 0 {
		if out.Root, err = timeline.Graft(ctx, c.keeper, now.Root, o.Snapshot, paths); err != nil {
			return out, err
		}
	}
	out.Changes, err = snapshot.Diff(ctx, c.keeper, now.Root, out.Root)
	return out, err
}

// carryOutExactly restores the changed paths of a tree in the workspace, appends them as the
// task's change, and returns the snapshot after that.
func (c *Changes) carryOutExactly(ctx context.Context, client *guest.Client, t *eventstore.Task, target timeline.Merged, now snapshot.Result) (choir.Digest, error) {
	if len(target.Changes) > 0 {
		if _, _, err := c.workspace.ClearWay(ctx, client, c.workspace.Scope(t), target.Root, now, nil); err != nil {
			return "", err
		}
		opts := guest.RestoreOptions{Only: pathsOf(snapshot.Apart(target.Changes)), Narrow: true}
		if _, err := c.workspace.RestoreTree(ctx, client, target.Root, opts); err != nil {
			return "", err
		}
	}
	after, _, err := c.workspace.Scan(ctx)
	if err != nil {
		return "", err
	}
	reason := "task_ended"
	if t.Task.Kind == choir.TaskEditRepo {
		reason = "checkpoint"
	}
	return after.Root, c.workspace.RecordTask(ctx, after, reason, reason == "checkpoint", t, "")
}

// refreshCopy brings what the scanned workspace has of what was copied into a task's copy,
// merged with the task's change, without the paths in leave, and the repositories there as they
// are in the workspace; the scan becomes the task's base. It changes nothing where the copy has all of it, and
// with conflicts. The reply has Moved if more than a repository is another.
func (c *Changes) refreshCopy(ctx context.Context, t *eventstore.Task, ours snapshot.Result, leave []string) (reply choir.TaskLandReply, refreshed bool, err error) {
	reply = choir.TaskLandReply{Base: t.Base, Aside: true}
	before, now, changes, err := c.copies.worktreeChanges(ctx, t, false)
	if err != nil {
		return reply, false, err
	}
	base, moved, err := c.copies.graftCopied(ctx, t, before, ours.Root, true)
	if err != nil || len(moved) == 0 {
		return reply, false, err
	}
	theirs, err := timeline.Graft(ctx, c.keeper, before, now.Root, pathsOf(withoutLeft(changes, slices.Concat(ours.Left, leave))))
	if err != nil {
		return reply, false, err
	}
	at := time.Now()
	merged, err := timeline.Merge(ctx, c.keeper, before, theirs, ours.Root, snapshot.Stamp{Sec: at.Unix(), Nsec: uint32(at.Nanosecond())})
	if err != nil || len(merged.Conflicts) > 0 {
		return choir.TaskLandReply{Conflicts: conflictPaths(merged.Conflicts)}, false, err
	}
	target, _, err := c.copies.graftCopied(ctx, t, base, merged.Root, false)
	if err == nil {
		err = c.copies.restoreCopy(ctx, t, now, target)
	}
	if err == nil {
		// What is cut off before this event is merged once more, with the same result.
		err = c.workspace.RecordTask(ctx, ours, "task_started", false, t, "")
	}
	if err != nil {
		return reply, false, err
	}
	started, err := c.startedEvents(ctx, t, choir.TaskStarted{Base: ours.Root, Attempt: max(t.Attempt, 1), Worktree: base})
	if err == nil {
		err = c.workspace.AppendAll(ctx, choir.RoleControl, started)
	}
	c.log.CatchUp()
	reply.Base = ours.Root
	reply.Moved = slices.ContainsFunc(moved, func(path string) bool { return !workspace.InGit(path) })
	return reply, err == nil, err
}
