package effects

import (
	"bytes"
	"context"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/computer/tasks"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
)

// Hold holds the result of a task, which is among the drafts of the Associate, if a rule demands
// an approval: nothing of the task is in the workspace, and an event has the result. Code
// conflict: it is held, and the drafts must not be appended. Drafts without a result, and results
// that need no approval, are left alone.
func (e *Effects) Hold(ctx context.Context, drafts []choir.Draft) error {
	i := slices.IndexFunc(drafts, func(d choir.Draft) bool { return d.Type == choir.TypeTaskReturned })
	if i < 0 {
		return nil
	}
	returned, err := choir.DecodePayload(choir.TypeTaskReturned, drafts[i].Payload)
	if err != nil {
		return nil // the store says what is wrong with it
	}
	result := returned.(*choir.TaskReturned).Result
	if result.TaskID != drafts[i].Task {
		return choir.Invalid("result.task_id", "is %s, but the event is about %s", result.TaskID, drafts[i].Task)
	}
	if _, err := e.log.First(ctx, choir.TypeEffectHeld, string(result.TaskID)); choir.CodeOf(err) != choir.CodeNotFound {
		if err == nil {
			err = choir.Refuse("computer.effect", choir.ReasonEffectHeld)
		}
		return err
	}
	t, err := e.log.Task(ctx, result.TaskID)
	switch {
	case choir.CodeOf(err) == choir.CodeNotFound, err == nil && (t.State != eventstore.TaskStarted || isOwners(&t.Task)):
		return nil
	case err != nil:
		return err
	}
	if held, err := e.changes.FinishAside(ctx, t.ID); err != nil || held { // whatever the rules are by now
		if err == nil {
			err = choir.Refuse("computer.effect", choir.ReasonEffectHeld)
		}
		return err
	}
	if e.rules.policy().Empty() {
		return mustHaveLanded(&t, drafts)
	}
	held, err := e.changes.TakeAside(ctx, t.ID, func(ctx context.Context, o tasks.Offered) (choir.Payload, bool, error) {
		return e.decide(ctx, o, result, checkpointIn(drafts))
	})
	switch {
	case err == nil && held:
		return choir.Refuse("computer.effect", choir.ReasonEffectHeld)
	case choir.CodeOf(err) == choir.CodeNotFound && t.InWorktree() && result.Status != choir.StatusOK:
		return nil // its copy is gone, and nothing of it is in the workspace
	case err == nil && result.Status == choir.StatusOK:
		return mustHaveLanded(&t, drafts)
	}
	return err
}

// mustHaveLanded returns an error if drafts with a result that is not held have a checkpoint that
// lies in the task's copy: other rules are in force since the task was told that its result would
// be held. The Associate begins it anew.
func mustHaveLanded(t *eventstore.Task, drafts []choir.Draft) error {
	if !t.InWorktree() || checkpointIn(drafts) == nil {
		return nil
	}
	return choir.E("computer.effect", choir.CodeUnavailable, "what task %s committed in its copy is not in the workspace, and no rule holds it now", t.ID).WithRemedy("begin it anew")
}

// isOwners reports whether a task changes no file of a project: checkpoints commit what is there.
func isOwners(t *choir.DirectorTask) bool {
	return t.GitAction == choir.GitCheckpoint || t.GitAction == choir.GitStatus
}

// checkpointIn returns the checkpoint among the drafts of a result; nil for none.
func checkpointIn(drafts []choir.Draft) *choir.HeldCheckpoint {
	for _, d := range drafts {
		if p, err := choir.DecodePayload(d.Type, d.Payload); err == nil {
			if c, ok := p.(*choir.CheckpointCreated); ok {
				return &choir.HeldCheckpoint{Checkpoint: c.Checkpoint, Subject: c.Subject, Trigger: c.Trigger, Verified: c.Verified, Commits: c.Commits, Withheld: c.Withheld}
			}
		}
	}
	return nil
}

// decide returns the event that holds what a task offers; nil if no rule demands an approval. drop
// reports that the change must not stay although the task failed.
func (e *Effects) decide(ctx context.Context, o tasks.Offered, result choir.AssociateResult, checkpoint *choir.HeldCheckpoint) (held choir.Payload, drop bool, err error) {
	p := choir.EffectHeld{
		Base: o.Task.Base, Snapshot: o.Snapshot, Files: workspace.CountShown(o.Changes), Result: result, Checkpoint: checkpoint,
		Tools: []string{}, Hosts: []choir.EffectHost{},
	}
	facts, err := e.rules.facts(ctx, o, &p)
	if err != nil {
		return nil, false, err
	}
	if p.Rules = e.rules.policy().Demands(facts); len(p.Rules) == 0 {
		return nil, false, nil
	}
	if result.Status != choir.StatusOK {
		return nil, true, nil
	}
	p.Rules = p.Rules[:min(len(p.Rules), maxListed)]
	p.Result.Snapshot, p.Result.Conflicts = o.Snapshot, o.Conflicts
	return p, false, e.fit(ctx, &p)
}

// fit shortens an event until the log takes it: it moves the result's diff to a blob, then cuts
// lists and outputs, which the log and the snapshots have.
func (e *Effects) fit(ctx context.Context, p *choir.EffectHeld) error {
	steps := []func() error{
		func() error {
			if p.Result.Diff == nil || p.Result.Diff.Content == "" {
				return nil
			}
			d, _, err := e.blobs.Put(ctx, bytes.NewReader([]byte(p.Result.Diff.Content)))
			p.Result.Diff = &choir.Diff{Format: p.Result.Diff.Format, Blob: d}
			return err
		},
		func() error {
			p.Result.FilesChanged = p.Result.FilesChanged[:min(len(p.Result.FilesChanged), 100)]
			p.Result.IgnoredFiles = p.Result.IgnoredFiles[:min(len(p.Result.IgnoredFiles), 50)]
			p.Result.CommandsRun = withoutOutput(p.Result.CommandsRun)
			p.Result.Verify.Commands = withoutOutput(p.Result.Verify.Commands)
			if p.Checkpoint != nil {
				p.Checkpoint.Withheld = nil
			}
			return nil
		},
		func() error {
			p.Result.FilesChanged, p.Result.IgnoredFiles, p.Result.Conflicts = []choir.FileChange{}, nil, nil
			p.Result.Summary, p.Result.Verify.Log = firstRunes(p.Result.Summary, 4000), firstRunes(p.Result.Verify.Log, 2000)
			return nil
		},
	}
	for _, step := range steps {
		raw, err := choir.Canonical(p)
		if err != nil || len(raw) <= choir.InlineLimit {
			return err
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// firstRunes returns at most max characters of a text.
func firstRunes(s string, max int) string {
	if r := []rune(s); len(r) > max {
		return string(r[:max])
	}
	return s
}

// withoutOutput returns the last 20 commands without the ends of their outputs.
func withoutOutput(runs []choir.CommandRun) []choir.CommandRun {
	out := slices.Clone(runs[max(0, len(runs)-20):])
	for i := range out {
		out[i].StdoutTail, out[i].StderrTail = "", ""
	}
	return out
}
