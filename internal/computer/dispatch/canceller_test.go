package dispatch

import (
	"context"
	"slices"
	"testing"
	"time"

	"choiros/internal/choir"
)

func TestAStoppedTaskThatNobodyTookUpIsAnsweredAtOnce(t *testing.T) {
	l := newLab(t, func(c *Config) { c.Grace = time.Hour })
	l.serve()
	working, waiting := l.submit(), l.submit()
	l.startTask(working)
	l.cancel(waiting)
	r := must(l.Wait(l.within(), waiting.TaskID))(t)
	if r.Code != choir.ResultCancelled || r.RunID != waiting.RunID || len(l.back.taken()) != 0 {
		t.Errorf("%+v; taken back is %v", r, l.back.taken())
	}
	l.cancel(working)
	if why := l.cancelled(working); why != "run_cancelled" {
		t.Errorf("the Associate is told %q", why)
	}
	l.answer(working)
	if r := must(l.Wait(l.within(), working.TaskID))(t); r.Status != choir.StatusOK {
		t.Errorf("the Associate's answer is not the task's: %+v", r)
	}
}

// TestAStoppedTaskIsTakenBackWhenTheAssociateDoesNotAnswer has the first attempt to
// take the task back fail: there is no answer until what the task did is gone.
func TestAStoppedTaskIsTakenBackWhenTheAssociateDoesNotAnswer(t *testing.T) {
	l := newLab(t, func(c *Config) { c.Grace = 20 * time.Millisecond })
	l.back.fails = 1
	l.serve()
	task := l.submit()
	l.startTask(task)
	l.cancel(task)
	l.cancelled(task)
	r := must(l.Wait(l.within(), task.TaskID))(t)
	if r.Code != choir.ResultCancelled || !slices.Equal(r.Conflicts, []string{"both"}) {
		t.Errorf("%+v", r)
	}
	if taken := l.back.taken(); !slices.Equal(taken, []choir.ID{task.TaskID, task.TaskID}) {
		t.Errorf("taken back are %v", taken)
	}
}

// TestStoppedTwiceATaskIsEndedOnce stops a run while its task is being ended.
func TestStoppedTwiceATaskIsEndedOnce(t *testing.T) {
	l := newLab(t, func(c *Config) { c.Grace = time.Hour })
	l.serve()
	task := l.submit()
	l.startTask(task)
	l.cancel(task)
	l.cancelled(task)
	l.cancel(task)
	l.answer(task)
	must(l.Wait(l.within(), task.TaskID))(t)
	asked := 0
	for e, err := range l.log.Events(l.within(), 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == choir.TypeTaskCancelRequested {
			asked++
		}
	}
	if asked != 1 || len(l.back.taken()) != 0 {
		t.Errorf("it was asked %d times; taken back is %v", asked, l.back.taken())
	}
}

func TestARunThatEndsStopsItsTasks(t *testing.T) {
	l := newLab(t)
	l.serve()
	task := must(l.NewTask(choir.DirectorTask{Kind: choir.TaskRun, Instruction: "x"}))(t)
	l.append(choir.RoleShell, task.RunID, "", choir.PromptSubmitted{Text: "hi"})
	must(l.Submit(l.within(), choir.RoleCLI, task))(t)
	l.startTask(task)
	l.append(choir.RoleControl, task.RunID, "", choir.RunFinished{Outcome: choir.OutcomeFailed, Answer: "A limit was reached."})
	if why := l.cancelled(task); why != "run_finished" {
		t.Errorf("the Associate is told %q", why)
	}
	l.answer(task)
}

func TestAStartEndsTheTasksThatWereStopped(t *testing.T) {
	l := newLab(t, func(c *Config) { c.Grace = time.Hour })
	over, stopped, unbegun, waiting := l.submit(), l.submit(), l.submit(), l.submit()
	l.answer(over)
	l.startTask(stopped)
	l.cancel(stopped)
	l.cancel(unbegun)
	l.serve()
	l.cancelled(stopped)
	if r := must(l.Wait(l.within(), unbegun.TaskID))(t); r.Code != choir.ResultCancelled {
		t.Errorf("%+v", r)
	}
	l.answer(stopped)
	if open := must(l.log.OpenTasks(l.within()))(t); len(open) != 1 || open[0].ID != waiting.TaskID {
		t.Errorf("open are %+v", open)
	}
}

func TestATaskIsWaitedForByItsId(t *testing.T) {
	l := newLab(t)
	_, err := l.Wait(l.within(), newID(t))
	if choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("a task that is not there: %v", err)
	}
	task := l.submit()
	again := must(l.Submit(l.within(), choir.RoleCLI, task))(t)
	if !again.Duplicate {
		t.Errorf("the same task again is %+v", again)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := l.Wait(ctx, task.TaskID); err == nil {
		t.Error("a task that works has an answer")
	}
	l.answer(task)
	if r := must(l.Wait(l.within(), task.TaskID))(t); r.TaskID != task.TaskID {
		t.Errorf("%+v", r)
	}
}

func TestWhatAPersonLeavesOutOfATaskIsFilledIn(t *testing.T) {
	l := newLab(t)
	task := must(l.ReadTask([]byte(` {"kind":"run","instruction":"x"}`)))(t)
	if task.Version != choir.ContractVersion || !task.TaskID.Valid() || task.RunID != choir.DeriveID(task.TaskID, "run") || task.Instruction != "x" {
		t.Errorf("%+v", task)
	}
	given := must(l.ReadTask([]byte(`{"kind":"run","instruction":"x","task_id":"` + string(task.TaskID) + `"}`)))(t)
	if given.TaskID != task.TaskID || given.RunID != task.RunID {
		t.Errorf("with its id it is %+v", given)
	}
	for _, raw := range []string{`null`, `[]`, `{"kind":"run","kind":"run","instruction":"x"}`, `{"kind":"run","instruction":"x","more":1}`, `{"instruction":"x"}`} {
		if got, err := l.ReadTask([]byte(raw)); choir.CodeOf(err) != choir.CodeInvalid {
			t.Errorf("%s is read as %+v, %v", raw, got, err)
		}
	}
}

// TestATaskThatComesAfterTheEndOfItsRunIsEnded has the Director's dispatch overtaken by the
// end of the run. A person may dispatch a task of such a run.
func TestATaskThatComesAfterTheEndOfItsRunIsEnded(t *testing.T) {
	l := newLab(t)
	run := newID(t)
	l.append(choir.RoleShell, run, "", choir.PromptSubmitted{Text: "hi"})
	l.append(choir.RoleControl, run, "", choir.RunFinished{Outcome: choir.OutcomeFailed, Answer: "A limit was reached."})
	dispatch := func(role choir.Role) choir.DirectorTask {
		task := must(l.NewTask(choir.DirectorTask{Kind: choir.TaskRun, Instruction: "x", RunID: run}))(t)
		l.append(role, run, task.TaskID, choir.TaskDispatched{Task: task})
		return task
	}
	before := dispatch(choir.RoleDirector)
	l.serve()
	after, persons := dispatch(choir.RoleDirector), dispatch(choir.RoleCLI)
	last := dispatch(choir.RoleDirector)
	for _, task := range []choir.DirectorTask{before, after, last} {
		if r := must(l.Wait(l.within(), task.TaskID))(t); r.Code != choir.ResultCancelled {
			t.Errorf("%+v", r)
		}
	}
	if open := must(l.log.OpenTasks(l.within()))(t); len(open) != 1 || open[0].ID != persons.TaskID {
		t.Errorf("open are %+v", open)
	}
}

// TestAStoppedTaskWhoseResultIsHeldMeanwhileIsAnswered has the result of a task held while it is
// being ended: the Associate answers nothing then, and nothing is to be taken back.
func TestAStoppedTaskWhoseResultIsHeldMeanwhileIsAnswered(t *testing.T) {
	l := newLab(t, func(c *Config) { c.Grace = 20 * time.Millisecond })
	task := l.submit()
	l.back.held = func(id choir.ID) {
		l.append(choir.RoleControl, task.RunID, id, choir.EffectHeld{
			Rules: []string{"x"}, Base: choir.ZeroHash, Snapshot: choir.ZeroHash, Tools: []string{}, Hosts: []choir.EffectHost{},
			Result: choir.AssociateResult{
				Version: choir.ContractVersion, TaskID: task.TaskID, RunID: task.RunID, Status: choir.StatusOK,
				FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
				Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown},
			},
		})
	}
	l.serve()
	l.startTask(task)
	l.cancel(task)
	if r := must(l.Wait(l.within(), task.TaskID))(t); r.Code != choir.ResultCancelled {
		t.Errorf("%+v", r)
	}
	if taken := l.back.taken(); len(taken) != 1 {
		t.Errorf("taken back are %v", taken)
	}
}
