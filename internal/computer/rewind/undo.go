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

// Undo reverts the changes of one run, task or tool call in the workspace and keeps
// later changes. Code conflict, with the paths in Applied: a later change depends on
// them; not_found: there is no such action. With dryRun it changes nothing and returns
// what would change.
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

// undoable returns the workspace before and after a run, a task or a tool call, or the
// conflicts that prevent its undo.
func (r *Rewinder) undoable(ctx context.Context, of choir.ID) (before, after choir.Digest, _ []timeline.Conflict, err error) {
	run, err := r.log.Run(ctx, of)
	switch {
	case choir.CodeOf(err) == choir.CodeNotFound:
		before, after, err = r.actionTrees(ctx, of)
		return before, after, nil, err
	case err != nil:
		return "", "", nil, err
	case run.State.Open():
		return "", "", nil, choir.Refuse("computer.undo", choir.ReasonUndoRunOpen, choir.TextOf("run", of))
	}
	return r.runAction(ctx, of)
}

// runAction returns the workspace after the last task of a run, and the same workspace
// without the changes of the run's tasks. Changes by others in between are in both; a
// change by others on top of the run's is a conflict.
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
		return "", "", nil, choir.Refuse("computer.undo", choir.ReasonUndoNoFiles, choir.TextOf("run", run))
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

// actionTrees returns the workspace before and after a task or a tool call.
func (r *Rewinder) actionTrees(ctx context.Context, of choir.ID) (before, after choir.Digest, err error) {
	t, err := r.log.Task(ctx, of)
	if err == nil {
		return r.taskAction(ctx, t)
	}
	if choir.CodeOf(err) != choir.CodeNotFound {
		return "", "", err
	}
	called, err := r.log.First(ctx, choir.TypeToolCalled, string(of))
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", "", choir.Refuse("computer.undo", choir.ReasonUndoUnknown, choir.TextOf("id", of))
	} else if err != nil {
		return "", "", err
	}
	returned, err := r.log.First(ctx, choir.TypeToolReturned, string(of))
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", "", choir.Refuse("computer.undo", choir.ReasonUndoCallOpen, choir.TextOf("id", of), choir.TextOf("task", called.Task))
	} else if err != nil {
		return "", "", err
	}
	if before, err = r.moments.Tree(ctx, called.Seq); err == nil {
		after, err = r.moments.Tree(ctx, returned.Seq)
	}
	if err == nil {
		before, err = r.keepOthers(ctx, before, after, called.Task, called.Seq, returned.Seq)
	}
	return before, after, err
}

// taskAction returns the workspace before and after a task without the changes of the
// owner and of other tasks meanwhile, which an undo must keep.
func (r *Rewinder) taskAction(ctx context.Context, t eventstore.Task) (before, after choir.Digest, err error) {
	if t.Result == nil {
		return "", "", choir.Refuse("computer.undo", choir.ReasonUndoTaskOpen, choir.TextOf("id", t.ID), choir.TextOf("run", t.Run))
	}
	if t.Base == "" {
		return "", "", choir.Refuse("computer.undo", choir.ReasonUndoNeverBegan, choir.TextOf("id", t.ID))
	}
	if t.Base, _, err = r.cfg.Available(ctx, t.Base); err != nil {
		return "", "", err
	}
	if after, err = r.moments.Tree(ctx, t.ReturnedSeq); err != nil {
		return "", "", err
	}
	before, err = r.keepOthers(ctx, t.Base, after, t.ID, t.StartedSeq, t.ReturnedSeq)
	return before, after, err
}

// keepOthers returns the tree before with what the owner and other tasks, but not the task,
// changed between two events as it is in the tree after.
func (r *Rewinder) keepOthers(ctx context.Context, before, after choir.Digest, task choir.ID, from, to uint64) (choir.Digest, error) {
	others, err := r.cfg.WrittenByOthers(ctx, task, from, to)
	if err != nil || len(others) == 0 {
		return before, err
	}
	return timeline.Graft(ctx, r.keeper, before, after, others)
}
