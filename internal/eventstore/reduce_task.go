package eventstore

import "choiros/internal/choir"

func taskDispatched(v *view, e *choir.Event, p *choir.TaskDispatched) error {
	id := p.Task.TaskID
	if _, known, err := v.tasks.get(id); err != nil || known {
		return err // the id is the idempotency key: the first dispatch holds
	}
	v.tasks.put(id, Task{
		ID: id, Run: e.Run, Kind: p.Task.Kind, Instruction: p.Task.Instruction, State: TaskDispatched,
		Step: p.Step, Task: p.Task, DispatchedSeq: e.Seq,
	})
	return nil
}

func (v *view) changeTask(id choir.ID, change func(*Task)) error {
	task, ok, err := v.tasks.get(id)
	if err != nil || !ok {
		return err
	}
	change(&task)
	v.tasks.put(id, task)
	return nil
}

// taskStarted keeps the base of the first attempt: a rollback goes there.
func taskStarted(v *view, e *choir.Event, p *choir.TaskStarted) error {
	if err := v.snapshot(e, choir.SnapshotTaken{Snapshot: p.Base, Reason: "task_started"}); err != nil {
		return err
	}
	return v.changeTask(e.Task, func(t *Task) {
		if t.State == TaskReturned {
			return
		}
		if t.State == TaskDispatched {
			t.State, t.Base, t.StartedSeq = TaskStarted, p.Base, e.Seq
		}
		t.Attempt = p.Attempt
	})
}

// taskReturned keeps the first result: a task has exactly one.
func taskReturned(v *view, e *choir.Event, p *choir.TaskReturned) error {
	return v.changeTask(p.Result.TaskID, func(t *Task) {
		if t.State == TaskReturned {
			return
		}
		t.State, t.ReturnedSeq = TaskReturned, e.Seq
		t.Status, t.Code, t.Summary = p.Result.Status, p.Result.Code, p.Result.Summary
		t.Result = &p.Result
	})
}

func taskJudged(v *view, _ *choir.Event, p *choir.TaskJudged) error {
	return v.changeTask(p.Task, func(t *Task) { t.Verdict = p.Verdict })
}

func checkpointCreated(v *view, e *choir.Event, p *choir.CheckpointCreated) error {
	if _, known, err := v.checkpoints.get(p.Checkpoint); err != nil || known {
		return err
	}
	v.checkpoints.put(p.Checkpoint, Checkpoint{
		ID: p.Checkpoint, Seq: e.Seq, At: e.Time, Run: e.Run, Task: e.Task, Snapshot: p.Snapshot, Subject: p.Subject,
		Trigger: p.Trigger, Verified: p.Verified, Commits: p.Commits, Withheld: p.Withheld,
	})
	return nil
}

func snapshotTaken(v *view, e *choir.Event, p *choir.SnapshotTaken) error { return v.snapshot(e, *p) }

// snapshot notes what the workspace was at an event.
func (v *view) snapshot(e *choir.Event, s choir.SnapshotTaken) error {
	value, err := encode(s)
	v.add(snapshotsTable, row{seq: e.Seq, value: value})
	return err
}
