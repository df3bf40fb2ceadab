package effects

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// answerTasks gives every held task its result whose owner has answered.
func (e *Effects) answerTasks(ctx context.Context) error {
	open, err := e.log.OpenTasks(ctx)
	for _, t := range open {
		if err == nil && t.State == eventstore.TaskHeld && t.Answer != "" {
			err = e.answerTask(ctx, t)
		}
	}
	return err
}

// answerTask gives a held task its result, unless it has one, or waits for another task that does it
// again. It may be called repeatedly.
func (e *Effects) answerTask(ctx context.Context, t eventstore.Task) error {
	w, err := e.read(ctx, t)
	if err != nil {
		return err
	}
	answer, cause, err := e.answered(ctx, t.ID)
	if err != nil {
		return err
	}
	result, checkpoint := w.Held.Result, w.Held.Checkpoint
	switch answer.Answer {
	case choir.EffectApprove:
		result.Snapshot = answer.Snapshot
	case choir.EffectRefuse:
		checkpoint = nil
		larger := choir.EffectHeld{Result: refused(w, answer.Reason)}
		if err := e.fit(ctx, &larger); err != nil {
			return err
		}
		result = larger.Result
	case choir.EffectAgain:
		checkpoint = nil
		again, err := e.log.Task(ctx, answer.Again)
		if err != nil || again.Result == nil {
			return err
		}
		result = *again.Result
		result.TaskID = t.ID
	}
	var drafts []choir.Draft
	if checkpoint != nil {
		d, err := choir.NewDraft(choir.DeriveID(t.ID, "checkpointed"), choir.CheckpointCreated{
			Checkpoint: checkpoint.Checkpoint, Snapshot: answer.Snapshot, Subject: checkpoint.Subject, Trigger: checkpoint.Trigger,
			Verified: checkpoint.Verified, Commits: checkpoint.Commits, Withheld: checkpoint.Withheld,
		})
		if err != nil {
			return err
		}
		drafts = append(drafts, d.ForRun(t.Run, t.ID).CausedBy(cause))
	}
	d, err := choir.NewDraft(choir.DeriveID(t.ID, "returned"), choir.TaskReturned{Result: result})
	if err != nil {
		return err
	}
	returned := d.ForRun(t.Run, t.ID).CausedBy(cause)
	_, err = e.events.AppendAs(ctx, choir.RoleControl, append(drafts, returned)...)
	if first := choir.FirstOf(err); first != nil && first.Type != returned.Type {
		_, err = e.events.AppendAs(ctx, choir.RoleControl, returned) // the checkpoint is in the log
	}
	if first := choir.FirstOf(err); first != nil && first.Type == returned.Type {
		return nil // it has its result
	}
	return err
}

// refused returns the result of a task whose owner did not approve what it left.
func refused(w Waiting, reason string) choir.AssociateResult {
	r := w.Held.Result
	r.Status, r.Code = choir.StatusFailed, choir.ResultNotApproved
	r.Attempt, r.Snapshot, r.Checkpoint, r.SuggestedNext = w.Held.Snapshot, "", nil, nil
	said := "The owner looked at this result and refused it; nothing of it is in the workspace."
	if reason != "" {
		said += " The owner says: " + reason
	}
	r.Summary = firstRunes(said+"\n"+r.Summary, maxSummary)
	return r
}

// maxSummary is the length in characters of a result's summary.
const maxSummary = 20_000
