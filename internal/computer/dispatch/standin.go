package dispatch

import (
	"context"
	"time"

	"choiros/internal/choir"
)

// standInLimit is how long the control plane tries to take back what a stopped
// task did.
const standInLimit = 30 * time.Second

// standIn answers a task that a person stopped and that the Associate does not
// answer. What it did is taken back first; its process is ended before that, so
// that it writes no more.
func (ts *Tasks) standIn(ctx context.Context, e choir.Event) error {
	t, err := ts.log.Task(ctx, e.Task)
	if err != nil || t.Result != nil {
		return err
	}
	why := "The task was stopped before it began."
	var back choir.TaskRollbackReply
	if t.Base != "" {
		ctx, cancel := context.WithTimeout(ctx, standInLimit)
		defer cancel()
		if back, err = ts.workspace.TakeBack(ctx, t.ID); err != nil {
			return err
		}
		why = "The task was stopped; the Associate did not answer, so the control plane took back what it had done."
	}
	result := choir.AssociateResult{
		Version: choir.ContractVersion, TaskID: e.Task, RunID: e.Run, Status: choir.StatusFailed, Code: choir.ResultCancelled, Summary: why,
		FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
		Conflicts: back.Conflicts,
		Verify:    choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown},
	}
	draft, err := choir.NewDraft(choir.DeriveID(e.Task, "returned"), choir.TaskReturned{Result: result})
	if err == nil {
		_, err = ts.events.AppendAs(ctx, choir.RoleControl, draft.ForRun(e.Run, e.Task).CausedBy(e.ID))
	}
	if first := choir.FirstOf(err); first != nil && first.Type == draft.Type {
		return nil // the Associate has answered after all, or this did before
	}
	return err
}
