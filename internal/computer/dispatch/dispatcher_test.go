package dispatch

import (
	"context"
	"slices"
	"testing"
	"time"

	"choiros/internal/bus"
	"choiros/internal/choir"
)

func TestTheOldestTaskIsSentUntilItIsAnsweredAndThenTheNext(t *testing.T) {
	l := newLab(t)
	l.post.fails = 3 // nobody listens yet
	l.serve()
	first, second := l.submit(), l.submit()
	for range 3 {
		l.heardOnly(toAssociate(bus.DeliverTask, first), second.TaskID)
	}
	l.answer(first)
	l.heard(toAssociate(bus.DeliverTask, second))
	l.heardOnly(toAssociate(bus.DeliverTask, second), first.TaskID)
}

func TestATaskIsSentAgainAsSoonAsASandboxHasStarted(t *testing.T) {
	l := newLab(t, func(c *Config) { c.Resend = time.Hour })
	l.serve()
	task := l.submit()
	l.heard(toAssociate(bus.DeliverTask, task))
	l.append(choir.RoleControl, "", "", choir.SandboxStarted{Role: choir.RoleAssociate, Driver: "fake", Level: "none"})
	l.heard(toAssociate(bus.DeliverTask, task))
}

func TestTheDirectorHearsOfItsRuns(t *testing.T) {
	l := newLab(t)
	before, run := newID(t), newID(t)
	l.append(choir.RoleShell, before, "", choir.PromptSubmitted{Text: "before the start"})
	l.serve()
	l.heard(delivery{choir.RoleDirector, bus.DeliverRun, before})
	l.append(choir.RoleShell, run, "", choir.PromptSubmitted{Text: "hi"})
	l.heard(delivery{choir.RoleDirector, bus.DeliverRun, run})
	l.append(choir.RoleShell, run, "", choir.SteeringSubmitted{Text: "and more"})
	l.heard(delivery{choir.RoleDirector, bus.DeliverRun, run})
	l.append(choir.RoleShell, run, "", choir.RunCancelRequested{Reason: "enough"})
	l.heard(delivery{choir.RoleDirector, bus.DeliverCancel, run})
}

func TestAStoppedTaskThatNobodyTookUpIsAnsweredAtOnce(t *testing.T) {
	l := newLab(t, func(c *Config) { c.Grace = time.Hour })
	l.serve()
	working, waiting := l.submit(), l.submit()
	l.heard(toAssociate(bus.DeliverTask, working))
	l.cancel(waiting)
	r := must(l.Wait(l.within(), waiting.TaskID))(t)
	if r.Code != choir.ResultCancelled || r.RunID != waiting.RunID || len(l.back.taken()) != 0 {
		t.Errorf("%+v; taken back is %v", r, l.back.taken())
	}
	l.cancel(working)
	l.heardOnly(toAssociate(bus.DeliverCancel, working), waiting.TaskID)
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
	task, next := l.submit(), l.submit()
	l.heard(toAssociate(bus.DeliverTask, task))
	l.startTask(task)
	l.cancel(task)
	l.heard(toAssociate(bus.DeliverCancel, task))
	r := must(l.Wait(l.within(), task.TaskID))(t)
	if r.Code != choir.ResultCancelled || !slices.Equal(r.Conflicts, []string{"both"}) {
		t.Errorf("%+v", r)
	}
	if taken := l.back.taken(); !slices.Equal(taken, []choir.ID{task.TaskID, task.TaskID}) {
		t.Errorf("taken back are %v", taken)
	}
	l.heard(toAssociate(bus.DeliverTask, next))
}

func TestARunThatEndsStopsItsTasks(t *testing.T) {
	l := newLab(t)
	l.serve()
	task := must(l.NewTask(choir.DirectorTask{Kind: choir.TaskRun, Instruction: "x"}))(t)
	l.append(choir.RoleShell, task.RunID, "", choir.PromptSubmitted{Text: "hi"})
	must(l.Submit(l.within(), choir.RoleCLI, task))(t)
	l.heard(toAssociate(bus.DeliverTask, task))
	l.append(choir.RoleControl, task.RunID, "", choir.RunFinished{Outcome: choir.OutcomeFailed, Answer: "A limit was reached."})
	l.heard(toAssociate(bus.DeliverCancel, task))
}

func TestAStartGoesOnWithTheTasksThatWereOpen(t *testing.T) {
	l := newLab(t, func(c *Config) { c.Grace = time.Hour })
	over, stopped, waiting := l.submit(), l.submit(), l.submit()
	l.answer(over)
	l.startTask(stopped)
	l.cancel(stopped)
	l.serve()
	l.heardOnly(toAssociate(bus.DeliverTask, stopped), over.TaskID)
	l.heardOnly(toAssociate(bus.DeliverCancel, stopped), waiting.TaskID)
	l.answer(stopped)
	l.heard(toAssociate(bus.DeliverTask, waiting))
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
