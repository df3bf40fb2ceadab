package tasks

import (
	"context"
	"maps"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// TakeBack implements dispatch.Workspace. It rolls the task back after it has ended the
// Associate's process, which its seat starts again.
func (c *Changes) TakeBack(ctx context.Context, id choir.ID) (choir.TaskRollbackReply, error) {
	client, err := c.sandbox.Guest(ctx)
	if err == nil {
		err = client.StopRole(ctx)
	}
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	return c.Rollback(ctx, id, nil)
}

// Rollback restores the base of a task in the workspace, in place, except for the paths
// the caller wants kept and those the owner wrote meanwhile: these become what the owner
// wrote, whatever the task did to them after. Code corrupt when content of the base is
// damaged; the workspace stays as the task made it then.
func (c *Changes) Rollback(ctx context.Context, id choir.ID, keep []string) (choir.TaskRollbackReply, error) {
	t, err := c.startedTask(ctx, id)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	unlock, err := c.workspace.Lock(ctx)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	defer unlock()
	now, client, err := c.workspace.Scan(ctx)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	if now, keep, err = c.workspace.ClearWay(ctx, client, t.Base, now, keep); err != nil {
		return choir.TaskRollbackReply{}, err
	}
	w, err := c.writersOf(ctx, &t, now.Root)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	reply, err := c.restoreBase(ctx, client, t.Base, now.Root, keep, w)
	if choir.CodeOf(err) == choir.CodeCorrupt {
		// What the workspace still has of it, a scan brings back.
		if now, client, err = c.workspace.Scan(ctx); err == nil {
			reply, err = c.restoreBase(ctx, client, t.Base, now.Root, keep, w)
		}
	}
	if choir.CodeOf(err) == choir.CodeCorrupt {
		return reply, c.recordUnrestored(ctx, &t, err)
	}
	if err != nil {
		return reply, err
	}
	if now, _, err = c.workspace.Scan(ctx); err != nil {
		return reply, err
	}
	return reply, c.workspace.RecordFor(ctx, now, "task_ended", &t)
}

// recordUnrestored appends the workspace as it is after a rollback that cannot be done,
// because content of the base is damaged and nobody else has it. It returns that error.
func (c *Changes) recordUnrestored(ctx context.Context, t *eventstore.Task, why error) error {
	now, _, err := c.workspace.Scan(ctx)
	if err == nil {
		err = c.workspace.RecordFor(ctx, now, "task_ended", t)
	}
	if err != nil {
		return err
	}
	return choir.Wrap("computer.rollback", choir.CodeCorrupt, why, "the workspace was left as task %s made it", t.ID)
}

// restoreBase restores the base around what is kept, and then what the owner wrote.
func (c *Changes) restoreBase(ctx context.Context, client *guest.Client, base, now choir.Digest, keep []string, w writers) (choir.TaskRollbackReply, error) {
	changes, err := snapshot.Diff(ctx, c.keeper, base, now)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	owners := slices.Sorted(maps.Keys(w.owner))
	plan := snapshot.PlanRollback(changes, append(slices.Clone(owners), keep...), func(path string) bool {
		_, owned := w.owner[path]
		return w.task[path] && (owned || belowAny(path, w.owner))
	})
	reply := choir.TaskRollbackReply{Restored: int64(len(plan.Restore)), Conflicts: w.conflicts(plan.Conflicts)}
	if len(plan.Restore) > 0 {
		opts := guest.RestoreOptions{Only: plan.Restore, Narrow: len(plan.Kept) > 0 || len(owners) > 0}
		if _, err := c.workspace.RestoreTree(ctx, client, base, opts); err != nil {
			return reply, err
		}
	}
	again, err := c.lostToTask(ctx, w, now)
	if err != nil {
		return reply, err
	}
	for _, from := range slices.Sorted(maps.Keys(again)) {
		if _, err := c.workspace.RestoreTree(ctx, client, from, guest.RestoreOptions{Only: again[from], Narrow: true}); err != nil {
			return reply, err
		}
		reply.Restored += int64(len(again[from]))
	}
	return reply, nil
}

// writersOf reads who wrote what from the log; what no event tells of yet is the
// task's.
func (c *Changes) writersOf(ctx context.Context, t *eventstore.Task, now choir.Digest) (writers, error) {
	w := newWriters()
	last, err := c.workspace.LastSnapshot(ctx)
	if err != nil {
		return w, err
	}
	changes, err := c.workspace.Changes(ctx, last, now)
	if err != nil {
		return w, err
	}
	for i := range changes {
		if ch := &changes[i]; !ch.TimeOnly() {
			w.task[ch.Path] = true
			w.task[ch.From] = true
		}
	}
	return w, w.read(c.log.Events(ctx, t.StartedSeq+1, 0), t.ID)
}

// lostToTask finds the owner's paths that are not what the owner wrote any more,
// with the folders they need, by the snapshot that has them.
func (c *Changes) lostToTask(ctx context.Context, w writers, now choir.Digest) (map[choir.Digest][]string, error) {
	out := map[choir.Digest][]string{}
	for path, in := range w.owner {
		if !w.task[path] && !belowAny(path, w.task) {
			continue
		}
		want, err := c.workspace.Lookup(ctx, in, path)
		if err != nil {
			return nil, err
		}
		have, err := c.workspace.Lookup(ctx, now, path)
		if err != nil {
			return nil, err
		}
		if same(want, have) {
			continue
		}
		out[in] = append(out[in], path)
		if want == nil {
			continue
		}
		for dir := workspace.Parent(path); dir != ""; dir = workspace.Parent(dir) {
			if e, err := c.workspace.Lookup(ctx, now, dir); err != nil {
				return nil, err
			} else if e == nil || e.Kind != snapshot.Dir {
				out[in] = append(out[in], dir)
			}
		}
	}
	return out, nil
}

// same says whether two entries are one to their owner; what is in a folder is
// paths of their own.
func same(a, b *snapshot.Entry) bool {
	switch {
	case a == nil || b == nil:
		return a == b
	case a.Kind == snapshot.Dir:
		return b.Kind == snapshot.Dir
	}
	return *a == *b
}

// belowAny reports whether one of the folders above a path is in the set.
func belowAny[V any](path string, set map[string]V) bool {
	for dir := workspace.Parent(path); dir != ""; dir = workspace.Parent(dir) {
		if _, ok := set[dir]; ok {
			return true
		}
	}
	return false
}
