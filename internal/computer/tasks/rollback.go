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

// TakeBack ends the Associate's process, which its seat restarts, rolls the task back and calls answer with
// the result. It holds the tree's lock until then, so that no task begins meanwhile. It implements
// dispatch.Workspace.
func (c *Changes) TakeBack(ctx context.Context, id choir.ID, answer func(choir.TaskRollbackReply) error) error {
	client, err := c.sandbox.Guest(ctx) // before the lock, which a sandbox that starts needs
	if err != nil {
		return err
	}
	t, unlock, err := c.lockStarted(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	if err := client.StopRole(ctx); err != nil {
		return err
	}
	if t.InWorktree() {
		return answer(choir.TaskRollbackReply{}) // the worktree goes with the next process
	}
	reply, err := c.rollback(ctx, &t, nil)
	if err != nil {
		return err
	}
	return answer(reply)
}

// Rollback restores the task's base in the workspace, in place. The paths in keep stay as
// they are; paths that the owner wrote meanwhile become what the owner wrote. Code corrupt:
// content of the base is damaged; the workspace stays as the task left it.
func (c *Changes) Rollback(ctx context.Context, id choir.ID, keep []string) (choir.TaskRollbackReply, error) {
	t, unlock, err := c.lockStarted(ctx, id)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	defer unlock()
	return c.rollback(ctx, &t, keep)
}

// rollback does the work of Rollback for a started task. The caller holds the tree's lock.
func (c *Changes) rollback(ctx context.Context, t *eventstore.Task, keep []string) (choir.TaskRollbackReply, error) {
	if t.InWorktree() {
		return c.copies.rollbackWorktree(ctx, t, keep)
	}
	reply, err := c.rollbacks.rollBack(ctx, t, keep)
	if err == nil {
		err = c.notes.drop(t.ID) // its result is another now
	}
	return reply, err
}

// rollbackTree is the tree in which tasks are rolled back; see Tree and Record.
type rollbackTree interface {
	Scope(task *eventstore.Task) workspace.Scope
	Scan(ctx context.Context, only ...string) (snapshot.Result, *guest.Client, error)
	ClearWay(ctx context.Context, client *guest.Client, scope workspace.Scope, base choir.Digest, now snapshot.Result, keep []string) (snapshot.Result, []string, error)
	RestoreTree(ctx context.Context, client *guest.Client, root choir.Digest, opts guest.RestoreOptions) (snapshot.RestoreResult, error)
	LastSnapshot(ctx context.Context) (choir.Digest, error)
	Changes(ctx context.Context, from, to choir.Digest) ([]snapshot.Change, error)
	Lookup(ctx context.Context, root choir.Digest, path string) (*snapshot.Entry, error)
	RecordTask(ctx context.Context, now snapshot.Result, reason string, always bool, task *eventstore.Task, cause choir.ID) error
}

// rollbacks restores the base of tasks that work in the workspace, but for what others wrote
// there. Callers hold the tree's lock.
type rollbacks struct {
	log    EventLog
	keeper *snapshot.Keeper
	tree   rollbackTree
}

// rollBack does the work of Rollback for a started task in the workspace.
func (r *rollbacks) rollBack(ctx context.Context, t *eventstore.Task, keep []string) (choir.TaskRollbackReply, error) {
	now, client, err := r.tree.Scan(ctx)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	if now, keep, err = r.tree.ClearWay(ctx, client, r.tree.Scope(t), t.Base, now, keep); err != nil {
		return choir.TaskRollbackReply{}, err
	}
	w, err := r.writersOf(ctx, t, now.Root)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	reply, err := r.restoreBase(ctx, client, t, now.Root, keep, w)
	if choir.CodeOf(err) == choir.CodeCorrupt {
		// What the workspace still has of it, a scan brings back.
		if now, client, err = r.tree.Scan(ctx); err == nil {
			reply, err = r.restoreBase(ctx, client, t, now.Root, keep, w)
		}
	}
	if choir.CodeOf(err) == choir.CodeCorrupt {
		return reply, r.recordUnrestored(ctx, t, err)
	}
	if err != nil {
		return reply, err
	}
	if now, _, err = r.tree.Scan(ctx); err != nil {
		return reply, err
	}
	return reply, r.tree.RecordTask(ctx, now, "task_ended", false, t, "")
}

// recordUnrestored appends the workspace's current state after a rollback that failed with
// why, because content of the base is damaged. It returns that error.
func (r *rollbacks) recordUnrestored(ctx context.Context, t *eventstore.Task, why error) error {
	now, _, err := r.tree.Scan(ctx)
	if err == nil {
		err = r.tree.RecordTask(ctx, now, "task_ended", false, t, "")
	}
	if err != nil {
		return err
	}
	return choir.Wrap("computer.rollback", choir.CodeCorrupt, why, "the workspace was left as task %s made it", t.ID)
}

// restoreBase restores the base in the task's scope, except for the kept paths and the
// paths that other tasks wrote, and then the owner's versions of files that the task overwrote.
// Other changes stay.
func (r *rollbacks) restoreBase(ctx context.Context, client *guest.Client, t *eventstore.Task, now choir.Digest, keep []string, w writers) (choir.TaskRollbackReply, error) {
	scope := r.tree.Scope(t)
	changes, err := snapshot.Diff(ctx, r.keeper, t.Base, now)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	changes = scope.Within(changes)
	owners := slices.Sorted(maps.Keys(w.owner))
	kept := slices.Concat(owners, slices.Sorted(maps.Keys(w.others)), keep)
	plan := snapshot.PlanRollback(changes, kept, func(path string) bool {
		_, owned := w.owner[path]
		return w.task[path] && (owned || belowAny(path, w.owner))
	})
	reply := choir.TaskRollbackReply{Restored: int64(len(plan.Restore)), Conflicts: w.conflicts(plan.Conflicts)}
	if len(plan.Restore) > 0 {
		opts := guest.RestoreOptions{Only: plan.Restore, Narrow: len(plan.Kept) > 0 || len(owners) > 0 || scope != ""}
		if _, err := r.tree.RestoreTree(ctx, client, t.Base, opts); err != nil {
			return reply, err
		}
	}
	again, err := r.lostToTask(ctx, w, now)
	if err != nil {
		return reply, err
	}
	for _, from := range slices.Sorted(maps.Keys(again)) {
		if _, err := r.tree.RestoreTree(ctx, client, from, guest.RestoreOptions{Only: again[from], Narrow: true}); err != nil {
			return reply, err
		}
		reply.Restored += int64(len(again[from]))
	}
	return reply, nil
}

// writersOf returns who wrote which path since the task began, from the log. Changes in
// the task's scope that are not yet in the log count as the task's.
func (r *rollbacks) writersOf(ctx context.Context, t *eventstore.Task, now choir.Digest) (writers, error) {
	w := newWriters()
	last, err := r.tree.LastSnapshot(ctx)
	if err != nil {
		return w, err
	}
	changes, err := r.tree.Changes(ctx, last, now)
	if err != nil {
		return w, err
	}
	changes = r.tree.Scope(t).Within(changes)
	for i := range changes {
		if ch := &changes[i]; !ch.TimeOnly() {
			w.task[ch.Path] = true
			w.task[ch.From] = true
		}
	}
	return w, w.read(r.log.Events(ctx, t.StartedSeq+1, 0), t.ID)
}

// lostToTask returns the paths at which a task overwrote the owner's version, grouped by the snapshot
// that has that version. Missing parent folders are included.
func (r *rollbacks) lostToTask(ctx context.Context, w writers, now choir.Digest) (map[choir.Digest][]string, error) {
	out := map[choir.Digest][]string{}
	for path, in := range w.owner {
		if !w.task[path] && !belowAny(path, w.task) {
			continue
		}
		want, err := r.tree.Lookup(ctx, in, path)
		if err != nil {
			return nil, err
		}
		have, err := r.tree.Lookup(ctx, now, path)
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
			if e, err := r.tree.Lookup(ctx, now, dir); err != nil {
				return nil, err
			} else if e == nil || e.Kind != snapshot.Dir {
				out[in] = append(out[in], dir)
			}
		}
	}
	return out, nil
}

// same reports whether two entries are equal to their owner: equal files, or folders,
// whatever their content.
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
