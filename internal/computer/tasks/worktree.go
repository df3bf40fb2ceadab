package tasks

import (
	"context"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// A task in a worktree works in a copy of its project that the Associate made, outside of the
// workspace. Its base and what Compare returns are trees of the workspace all the same, with
// the task's change in the place of the project, so that all that reads them reads paths of
// the project. Nothing of the change is in the workspace until Land, after which the task is
// one in the project as any other: with the workspace just before as its base.

// enterWorktree takes the snapshot of the copy in which a task is to work and sets it in t. It does
// nothing for a task that works in the workspace: one without a copy, whose change came
// into the workspace already, or where nothing confines its commands to the copy.
func (c *Changes) enterWorktree(ctx context.Context, t *eventstore.Task, copied bool) error {
	switch {
	case t.InWorktree() && !copied:
		return choir.Invalid("copied", "the task works in a copy of its project, which there must be")
	case !copied || !t.Task.Worktree && !c.belongsAside(t) || t.Landed || t.Base != "" && !t.InWorktree() || !c.workspace.Confines():
		return nil
	}
	now, _, err := c.workspace.ScanWorktree(ctx, t.ID)
	t.Worktree = now.Root
	return err
}

// worktreeOf returns the snapshot of the copy in which a task works; empty for none.
func worktreeOf(t *eventstore.Task) choir.Digest {
	if !t.InWorktree() {
		return ""
	}
	return t.Worktree
}

func pathsOf(changes []snapshot.Change) []string {
	var paths []string
	for i := range changes {
		paths = append(paths, changes[i].Path)
	}
	return paths
}

// landing is a task whose copy is to land: with the tree's lock held, the other tasks at work, and a
// scan of the workspace.
type landing struct {
	task   eventstore.Task
	beside []eventstore.Task
	now    snapshot.Result
	client *guest.Client
	unlock func()
}

// lockLanding locks the tree for a task in a copy that is to land, and scans the workspace. The
// caller unlocks it. Code invalid: the task does not work in a copy; unavailable: another task
// works in the project.
func (c *Changes) lockLanding(ctx context.Context, id choir.ID) (l landing, err error) {
	if l.task, l.unlock, err = c.lockStarted(ctx, id); err != nil {
		return l, err
	}
	defer func() {
		if err != nil {
			l.unlock()
		}
	}()
	if l.task.Worktree == "" {
		return l, choir.Invalid("task", "task %s does not work in a copy of its project", id)
	}
	if l.beside, err = c.mustLandAlone(ctx, &l.task); err != nil {
		return l, err
	}
	l.now, l.client, err = c.workspace.Scan(ctx)
	return l, err
}

// Land merges what a task changed in its worktree into the workspace, as the task's change,
// without what lies in .git folders and at or below the paths in leave. The workspace just before becomes the task's base. With
// conflicts it changes nothing. Code unavailable: another task works in the project. It may be
// called again, which carries a merge out that was cut off. Where the owner may have to approve
// the result, it merges the project into the copy instead and replies Aside.
func (c *Changes) Land(ctx context.Context, id choir.ID, leave []string) (choir.TaskLandReply, error) {
	var reply choir.TaskLandReply
	l, err := c.lockLanding(ctx, id)
	if err != nil {
		return reply, err
	}
	defer l.unlock()
	t, beside, now, client := l.task, l.beside, l.now, l.client
	if t.InWorktree() && c.mayWait(&t) {
		reply, _, err = c.refreshCopy(ctx, &t, now, leave)
		return reply, err
	}
	ours := now.Root
	if t.Landed {
		ours = t.Base // what is there of the merge is carried out once more
	} else if err := c.workspace.RecordTask(ctx, now, "task_started", false, &t, ""); err != nil {
		return reply, err
	}
	merged, err := c.copies.mergeWorktree(ctx, &t, ours, slices.Concat(now.Left, leave))
	if err != nil || len(merged.Conflicts) > 0 {
		return choir.TaskLandReply{Conflicts: conflictPaths(merged.Conflicts)}, err
	}
	if reply.Moved, err = c.moved(ctx, &t, ours); err != nil {
		return reply, err
	}
	reply.Base = ours
	if err := c.enterProject(ctx, &t, ours, beside); err != nil {
		return reply, err
	}
	// What began is ended, whoever still waits for the answer.
	return reply, c.carryOut(context.WithoutCancel(ctx), client, &t, merged, now)
}

// enterProject has a task work in the project from now on, if it does not yet, with the tree ours
// as its base.
func (c *Changes) enterProject(ctx context.Context, t *eventstore.Task, ours choir.Digest, beside []eventstore.Task) error {
	if !t.Landed {
		started, err := c.startedEvents(ctx, t, choir.TaskStarted{Base: ours, Attempt: max(t.Attempt, 1)})
		if err == nil {
			err = c.workspace.AppendAll(ctx, choir.RoleControl, started)
		}
		if err != nil {
			return err
		}
		t.Base, t.Landed = ours, true
	}
	c.scopes.remember(append(beside, *t))
	c.log.CatchUp()
	return nil
}

// mustLandAlone returns the other tasks at work. Code unavailable: one of them works in the
// project of a task whose change is to come into the workspace.
func (c *Changes) mustLandAlone(ctx context.Context, t *eventstore.Task) (beside []eventstore.Task, err error) {
	if beside, err = c.workspace.TasksAtWork(ctx); err != nil {
		return nil, err
	}
	beside = slices.DeleteFunc(beside, func(other eventstore.Task) bool { return other.ID == t.ID })
	inPlace := *t
	inPlace.Landed = true
	scope := c.workspace.Scope(&inPlace)
	for i := range beside {
		if scope.Overlaps(c.workspace.Scope(&beside[i])) {
			return nil, choir.E("computer.task", choir.CodeUnavailable, "another task works in the project").WithRemedy("ask again after that")
		}
	}
	return beside, nil
}

// withoutLeft returns changes without those at or below the paths in left, and without new
// folders of which nothing else is left.
func withoutLeft(changes []snapshot.Change, left []string) []snapshot.Change {
	emptied, filled := map[string]bool{}, map[string]bool{}
	isNewFolder := func(ch *snapshot.Change) bool { return ch.Before == nil && workspace.IsFolder(ch.After) }
	for i := range changes {
		above := filled
		switch ch := &changes[i]; {
		case workspace.Below(ch.Path, left):
			above = emptied
		case isNewFolder(ch):
			continue
		}
		for dir := workspace.Parent(changes[i].Path); dir != ""; dir = workspace.Parent(dir) {
			above[dir] = true
		}
	}
	return slices.DeleteFunc(changes, func(ch snapshot.Change) bool {
		return workspace.Below(ch.Path, left) || isNewFolder(&ch) && emptied[ch.Path] && !filled[ch.Path]
	})
}

func conflictPaths(conflicts []timeline.Conflict) []string {
	var paths []string
	for _, one := range conflicts {
		paths = append(paths, one.Path)
	}
	return paths
}

// moved reports whether something in the project of a task, outside of .git, differs between
// the task's base and the tree ours in more than times.
func (c *Changes) moved(ctx context.Context, t *eventstore.Task, ours choir.Digest) (bool, error) {
	if t.Landed {
		return true, nil // its base is that tree already
	}
	paths, err := contentChanges(ctx, c.keeper, copiedScope(t), t.Base, ours)
	return len(paths) > 0, err
}

// carryOut restores the merged paths in the workspace and appends them as the task's change.
func (c *Changes) carryOut(ctx context.Context, client *guest.Client, t *eventstore.Task, merged timeline.Merged, now snapshot.Result) error {
	if len(merged.Changes) == 0 {
		return nil
	}
	scope := c.workspace.Scope(t)
	if _, _, err := c.workspace.ClearWay(ctx, client, scope, merged.Root, now, nil); err != nil {
		return err
	}
	opts := guest.RestoreOptions{Only: pathsOf(scope.Within(snapshot.Apart(merged.Changes))), Narrow: true}
	if _, err := c.workspace.RestoreTree(ctx, client, merged.Root, opts); err != nil {
		return err
	}
	after, _, err := c.workspace.Scan(ctx)
	if err != nil {
		return err
	}
	return c.workspace.RecordTask(ctx, after, "tool_returned", false, t, "")
}
