package eventstore

import "choiros/internal/choir"

// tasksTable stores the tasks by id; the state column is TaskState.
var tasksTable = &keyed[Task]{
	projection: projection{
		name: "tasks", since: 1, key: 1, columns: []column{keyColumn, seqColumn, runColumn, stateColumn, valueColumn},
		indexes: []string{"tasks_of_run ON tasks (run, seq)", "tasks_open ON tasks (seq) WHERE state <> 'returned'"},
		on: reducers{
			choir.TypeTaskDispatched: on(taskDispatched),
			choir.TypeTaskStarted:    on(taskStarted),
			choir.TypeEffectHeld:     on(taskHeld),
			choir.TypeEffectAnswered: on(taskEffectAnswered),
			choir.TypeTaskReturned:   on(taskReturned),
			choir.TypeTaskJudged:     on(taskJudged),
		},
	},
	index: func(x *Task) row { return row{seq: x.DispatchedSeq, run: string(x.Run), state: string(x.State)} },
}

type taskRows = *cells[Task]

func taskDispatched(tasks taskRows, e *choir.Event, p *choir.TaskDispatched) error {
	id := p.Task.TaskID
	if _, known, err := tasks.get(id); err != nil || known {
		return err // the id is the idempotency key: the first dispatch holds
	}
	tasks.put(id, Task{
		ID: id, Run: e.Run, Kind: p.Task.Kind, Instruction: p.Task.Instruction, State: TaskDispatched,
		Step: p.Step, Task: p.Task, DispatchedSeq: e.Seq,
	})
	return nil
}

func changeTask(tasks taskRows, id choir.ID, change func(*Task)) error {
	task, ok, err := tasks.get(id)
	if err != nil || !ok {
		return err
	}
	change(&task)
	tasks.put(id, task)
	return nil
}

// taskStarted records the start of a task. The base of the first attempt stays, because
// a rollback restores that. While it works in a copy of its project, it begins anew there with
// each attempt, and once more when its change comes into the workspace.
func taskStarted(tasks taskRows, e *choir.Event, p *choir.TaskStarted) error {
	return changeTask(tasks, e.Task, func(t *Task) {
		if t.State == TaskReturned || t.State == TaskHeld {
			return
		}
		if t.State == TaskDispatched || t.InWorktree() {
			t.State, t.Base, t.StartedSeq = TaskStarted, p.Base, e.Seq
			if t.Landed = t.InWorktree() && p.Worktree == ""; !t.Landed {
				t.Worktree = p.Worktree
			}
		}
		t.Attempt = p.Attempt
	})
}

// taskHeld records that the result of a task waits for the owner.
func taskHeld(tasks taskRows, e *choir.Event, _ *choir.EffectHeld) error {
	return changeTask(tasks, e.Task, func(t *Task) {
		if t.State != TaskReturned {
			t.State, t.HeldSeq = TaskHeld, e.Seq
		}
	})
}

func taskEffectAnswered(tasks taskRows, e *choir.Event, p *choir.EffectAnswered) error {
	return changeTask(tasks, e.Task, func(t *Task) { t.Answer, t.Again = p.Answer, p.Again })
}

// taskReturned records the first result of a task and ignores later ones.
func taskReturned(tasks taskRows, e *choir.Event, p *choir.TaskReturned) error {
	return changeTask(tasks, p.Result.TaskID, func(t *Task) {
		if t.State == TaskReturned {
			return
		}
		t.State, t.ReturnedSeq = TaskReturned, e.Seq
		t.Status, t.Code, t.Summary = p.Result.Status, p.Result.Code, p.Result.Summary
		t.Result = &p.Result
	})
}

func taskJudged(tasks taskRows, _ *choir.Event, p *choir.TaskJudged) error {
	return changeTask(tasks, p.Task, func(t *Task) { t.Verdict = p.Verdict })
}
