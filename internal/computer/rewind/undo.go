package rewind

import (
	"cmp"
	"context"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/computer/treemerge"
	"choiros/internal/eventstore"
	"choiros/internal/timeline"
)

// Undo takes back what one run, task or tool call changed in the workspace, and
// keeps what came after. Code conflict, with the paths in Applied, when something
// later depends on it; not_found when there is no such action. With dryRun it only
// says what would change.
func (r *Rewinder) Undo(ctx context.Context, role choir.Role, of choir.ID, dryRun bool) (treemerge.Applied, error) {
	before, after, conflicts, err := r.undoable(ctx, of)
	if err != nil {
		return treemerge.Applied{Conflicts: conflicts}, err
	}
	return r.merger.Apply(ctx, role, treemerge.Step{
		Base: after, Theirs: before, Reason: "undo", Terminal: choir.TerminalUndo, Words: "An action was undone; this terminal has ended.",
		Record: func(before, now choir.Digest, files int64) choir.Payload {
			return choir.TimelineUndone{Of: of, Snapshot: now, Before: before, Files: files}
		},
	}, dryRun)
}

// undoable finds the workspace before and after a run, a task or a tool call.
func (r *Rewinder) undoable(ctx context.Context, of choir.ID) (before, after choir.Digest, _ []timeline.Conflict, err error) {
	run, err := r.log.Run(ctx, of)
	switch {
	case choir.CodeOf(err) == choir.CodeNotFound:
		before, after, err = r.action(ctx, of)
		return before, after, nil, err
	case err != nil:
		return "", "", nil, err
	case run.State.Open():
		return "", "", nil, choir.E("computer.undo", choir.CodeConflict, "run %s has not ended", of).WithRemedy("stop it first: choir run %s --cancel", of)
	}
	return r.runAction(ctx, of)
}

// runAction is what the tasks of a run changed: the workspace after the last of
// them, and that without what any of them did. What others did in between is in
// both; where that stands on what the run did it is a conflict.
func (r *Rewinder) runAction(ctx context.Context, run choir.ID) (before, after choir.Digest, _ []timeline.Conflict, err error) {
	tasks, err := r.log.Tasks(ctx, run)
	if err != nil {
		return "", "", nil, err
	}
	// What was put back, or changed nothing, needs no undoing.
	tasks = slices.DeleteFunc(tasks, func(t eventstore.Task) bool {
		return t.Result == nil || t.Status != choir.StatusOK || len(t.Result.FilesChanged) == 0
	})
	if len(tasks) == 0 {
		return "", "", nil, choir.E("computer.undo", choir.CodeConflict, "run %s changed no files", run)
	}
	slices.SortFunc(tasks, func(a, b eventstore.Task) int { return cmp.Compare(b.ReturnedSeq, a.ReturnedSeq) })
	for i, t := range tasks {
		was, became, err := r.taskAction(ctx, t)
		if err != nil {
			return "", "", nil, err
		}
		if i == 0 {
			before, after = was, became
			continue
		}
		m, err := r.merger.Trees(ctx, became, was, before)
		if err == nil {
			err = treemerge.ConflictsError(m.Conflicts)
		}
		if err != nil {
			return "", "", m.Conflicts, err
		}
		before = m.Root
	}
	return before, after, nil, nil
}

// action finds the workspace before and after a task or a tool call.
func (r *Rewinder) action(ctx context.Context, of choir.ID) (before, after choir.Digest, err error) {
	t, err := r.log.Task(ctx, of)
	if err == nil {
		return r.taskAction(ctx, t)
	}
	if choir.CodeOf(err) != choir.CodeNotFound {
		return "", "", err
	}
	called, err := r.log.First(ctx, choir.TypeToolCalled, string(of))
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", "", choir.E("computer.undo", choir.CodeNotFound, "%s is neither a run nor a task nor a tool call of this computer", of).WithRemedy("choir timeline lists them")
	} else if err != nil {
		return "", "", err
	}
	returned, err := r.log.First(ctx, choir.TypeToolReturned, string(of))
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", "", choir.E("computer.undo", choir.CodeConflict, "tool call %s has not returned", of).WithRemedy("undo its task once that has ended: %s", called.Task)
	} else if err != nil {
		return "", "", err
	}
	if before, err = r.moments.Tree(ctx, called.Seq); err == nil {
		after, err = r.moments.Tree(ctx, returned.Seq)
	}
	return before, after, err
}

// taskAction is what a task changed: without what the owner wrote meanwhile,
// which is not the task's to be taken back.
func (r *Rewinder) taskAction(ctx context.Context, t eventstore.Task) (before, after choir.Digest, err error) {
	if t.Result == nil {
		return "", "", choir.E("computer.undo", choir.CodeConflict, "task %s has not ended", t.ID).WithRemedy("stop its run: choir run %s --cancel", t.Run)
	}
	if t.Base == "" {
		return "", "", choir.E("computer.undo", choir.CodeConflict, "task %s never began, so there is nothing to undo", t.ID)
	}
	if t.Base, _, err = r.cfg.Available(ctx, t.Base); err != nil {
		return "", "", err
	}
	if after, err = r.moments.Tree(ctx, t.ReturnedSeq); err != nil {
		return "", "", err
	}
	owners, err := r.cfg.WrittenByOwner(ctx, &t)
	if err != nil || len(owners) == 0 {
		return t.Base, after, err
	}
	before, err = timeline.Graft(ctx, r.keeper, t.Base, after, owners)
	return before, after, err
}
