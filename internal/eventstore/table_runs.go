package eventstore

import (
	"slices"

	"choiros/internal/choir"
)

// runsTable stores the runs by id; the state column is RunState. Cost and undo are
// stored in usageTable and undosTable.
var runsTable = &keyed[Run]{
	projection: projection{
		name: "runs", since: 1, key: 1, columns: []column{keyColumn, seqColumn, stateColumn, valueColumn},
		indexes: []string{"runs_by_seq ON runs (seq)", "runs_open ON runs (seq) WHERE state IN ('planning', 'running', 'waiting')"},
		on: reducers{
			choir.TypePromptSubmitted:  on(runBegan),
			choir.TypePlanMade:         on(runPlanned),
			choir.TypeQuestionAsked:    on(runAsked),
			choir.TypeQuestionAnswered: on(runAnswered),
			choir.TypeEffectHeld:       on(runHeld),
			choir.TypeEffectAnswered:   on(runEffectAnswered),
			choir.TypeTaskReturned:     on(runTaskReturned),
			choir.TypeDocumentCreated:  on(runDocumented),
			choir.TypeRunPaused:        on(runPaused),
			choir.TypeRunResumed:       on(runResumed),
			choir.TypeRunFinished:      on(runFinished),
			choir.TypeRunDismissed:     on(runDismissed),
		},
	},
	index: func(x *Run) row { return row{seq: x.FirstSeq, state: string(x.State)} },
}

type runRows = *cells[Run]

func runBegan(runs runRows, e *choir.Event, p *choir.PromptSubmitted) error {
	if _, known, err := runs.get(e.Run); err != nil || known {
		return err
	}
	runs.put(e.Run, Run{
		ID: e.Run, Prompt: p.Text, Repo: p.Repo, Source: e.Source, After: p.After, Paced: p.Paced,
		State: RunPlanning, FirstSeq: e.Seq, StartedAt: e.Time,
	})
	return nil
}

// changeRun calls change on a run and stores it, if the run exists and has not ended.
func changeRun(runs runRows, id choir.ID, change func(*Run)) error {
	run, ok, err := runs.get(id)
	if err != nil || !ok || !run.State.Open() {
		return err
	}
	change(&run)
	runs.put(id, run)
	return nil
}

func runPlanned(runs runRows, e *choir.Event, _ *choir.PlanMade) error {
	return changeRun(runs, e.Run, func(r *Run) {
		if r.State == RunPlanning {
			r.State = RunRunning
		}
	})
}

func runAsked(runs runRows, e *choir.Event, p *choir.QuestionAsked) error {
	return changeRun(runs, e.Run, func(r *Run) { r.State, r.Question = RunWaiting, &p.Question })
}

func runAnswered(runs runRows, e *choir.Event, p *choir.QuestionAnswered) error {
	return changeRun(runs, e.Run, func(r *Run) {
		if r.Question != nil && r.Question.ID == p.Question {
			r.Question = nil
			r.goOn()
		}
	})
}

// goOn lets a run go on that waits for nothing any more.
func (r *Run) goOn() {
	if r.State == RunWaiting && r.Question == nil && len(r.Held) == 0 {
		r.State = RunRunning
	}
}

// runHeld lets a run wait for the owner's answer to the result of its task.
func runHeld(runs runRows, e *choir.Event, _ *choir.EffectHeld) error {
	return changeRun(runs, e.Run, func(r *Run) { r.State, r.Held = RunWaiting, append(slices.Clone(r.Held), e.Task) })
}

func runEffectAnswered(runs runRows, e *choir.Event, _ *choir.EffectAnswered) error {
	return endHold(runs, e)
}

// runTaskReturned ends the wait for a task that was answered without its owner, as a stopped
// task is.
func runTaskReturned(runs runRows, e *choir.Event, _ *choir.TaskReturned) error {
	return endHold(runs, e)
}

// endHold lets the run of an event go on without the answer to the event's task.
func endHold(runs runRows, e *choir.Event) error {
	run, ok, err := runs.get(e.Run)
	if err != nil || !ok || !slices.Contains(run.Held, e.Task) {
		return err
	}
	return changeRun(runs, e.Run, func(r *Run) {
		r.Held = slices.DeleteFunc(slices.Clone(r.Held), func(id choir.ID) bool { return id == e.Task })
		r.goOn()
	})
}

// runDocumented sets the living document of a run: the first document created in it.
func runDocumented(runs runRows, e *choir.Event, p *choir.DocumentCreated) error {
	if _, known, err := documentHeadsTable.of(runs.view).get(p.Document); err != nil || known {
		return err
	}
	return changeRun(runs, e.Run, func(r *Run) {
		if r.Document == "" {
			r.Document = p.Document
		}
	})
}

// runPaused marks a run as paused. A second pause changes nothing.
func runPaused(runs runRows, e *choir.Event, _ *choir.RunPaused) error {
	return changeRun(runs, e.Run, func(r *Run) {
		if r.PausedSeq == 0 {
			r.PausedSeq = e.Seq
		}
	})
}

func runResumed(runs runRows, e *choir.Event, _ *choir.RunResumed) error {
	return changeRun(runs, e.Run, func(r *Run) { r.PausedSeq = 0 })
}

func runFinished(runs runRows, e *choir.Event, p *choir.RunFinished) error {
	return changeRun(runs, e.Run, func(r *Run) {
		r.State, r.Code, r.Status, r.Answer, r.Signature = RunState(p.Outcome), p.Code, p.Status, p.Answer, p.Signature
		r.Question, r.Held, r.FinishedAt, r.PausedSeq = nil, nil, e.Time, 0
	})
}

// runDismissed marks a run, which has usually ended, as dismissed.
func runDismissed(runs runRows, e *choir.Event, _ *choir.RunDismissed) error {
	run, ok, err := runs.get(e.Run)
	if err != nil || !ok {
		return err
	}
	run.Dismissed = true
	runs.put(e.Run, run)
	return nil
}
