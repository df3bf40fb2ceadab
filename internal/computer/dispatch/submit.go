package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// ReadTask decodes a DirectorTask strictly and fills in version, task_id and run_id where
// they are missing. Code invalid, with the field's path.
func (ts *Tasks) ReadTask(raw []byte) (choir.DirectorTask, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return choir.DirectorTask{}, choir.RefuseField("$", choir.ReasonTaskNotJSON, choir.TextOf("why", err))
	}
	if members == nil {
		return choir.DirectorTask{}, choir.RefuseField("$", choir.ReasonFieldNoObject)
	}
	// The run that is left out follows from the task, so that the same text sent
	// again is the same task. The decoder below refuses a malformed task_id.
	var given choir.DirectorTask
	if raw, ok := members["task_id"]; ok {
		_ = json.Unmarshal(raw, &given.TaskID)
	}
	ids, err := ts.NewTask(given)
	if err != nil {
		return ids, err
	}
	// The ids go in front of what was written, so that the strict decoder sees
	// all of it, a member given twice too.
	whole := []byte{'{'}
	for name, value := range map[string]any{"version": ids.Version, "task_id": ids.TaskID, "run_id": ids.RunID} {
		if _, given := members[name]; given {
			continue
		}
		whole = fmt.Appendf(whole, `%q:`, name)
		text, err := json.Marshal(value)
		if err != nil {
			return ids, choir.Wrap("computer.task", choir.CodeInternal, err, "encode %s", name)
		}
		whole = append(append(whole, text...), ',')
	}
	if len(members) == 0 {
		whole = bytes.TrimSuffix(whole, []byte{','})
	}
	whole = append(whole, bytes.TrimSpace(raw)[1:]...)
	var task choir.DirectorTask
	return task, choir.DecodeStrict(whole, &task)
}

// Submit appends the dispatch of a task that a person wrote and returns its receipt. The
// task's run may be new.
func (ts *Tasks) Submit(ctx context.Context, role choir.Role, task choir.DirectorTask) (choir.Receipt, error) {
	id := choir.DeriveID(task.TaskID, "dispatched")
	if fault.NoTaskKeys {
		id = choir.DeriveID(id, ts.cfg.Now().String())
	}
	receipt, err := ts.events.AppendToRun(ctx, role, id, task.RunID, task.TaskID, choir.TaskDispatched{Task: task})
	ts.log.CatchUp() // while the Associate hears of it, whose first request reads the task
	return receipt, err
}

// NewTask returns the task with its version, and with fresh ids where it has none.
func (ts *Tasks) NewTask(t choir.DirectorTask) (choir.DirectorTask, error) {
	var err error
	t.Version = choir.ContractVersion
	if t.TaskID == "" {
		if t.TaskID, err = ts.events.NewID(); err != nil {
			return t, err
		}
	}
	if t.RunID == "" {
		t.RunID = choir.DeriveID(t.TaskID, "run")
	}
	return t, nil
}

// Wait waits until the task has an answer and returns it. It reads the log directly, not
// the SQLite copy. Code not_found: there is no such task.
func (ts *Tasks) Wait(ctx context.Context, id choir.ID) (choir.AssociateResult, error) {
	if err := ts.mustBeDispatched(ctx, id); err != nil {
		return choir.AssociateResult{}, err
	}
	for {
		head, _ := ts.log.Head()
		if result, err := ts.log.Result(ctx, id); choir.CodeOf(err) != choir.CodeNotFound {
			return result, err
		}
		if err := ts.log.WaitPast(ctx, head); err != nil {
			return choir.AssociateResult{}, err
		}
	}
}

// mustBeDispatched returns an error with code not_found if the log has no such task.
func (ts *Tasks) mustBeDispatched(ctx context.Context, task choir.ID) error {
	_, err := ts.log.First(ctx, choir.TypeTaskDispatched, string(task))
	if choir.CodeOf(err) == choir.CodeNotFound {
		_, err = ts.log.Task(ctx, task) // which says it of a task
	}
	return err
}
