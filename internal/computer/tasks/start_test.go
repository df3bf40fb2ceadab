package tasks

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/computer/workspace/workspacetest"
)

func TestATaskThatIsDeliveredAgainKeepsItsBase(t *testing.T) {
	l := newLab(t)
	l.Write("x", "before")
	base := l.root()
	task := l.dispatch()
	first := must(l.Start(l.Within(), task.TaskID, ""))(t)
	if first.Base != base || first.Attempt != 1 || first.Resumed || first.Compared {
		t.Errorf("the first start is %+v", first)
	}
	task.call(true, func() { l.WriteOutside("x", "task") })
	open := workspacetest.NewID(t)
	task.appendEvent(choir.ToolCalled{Call: open, Tool: "bash", Writes: true, Input: choir.ToolInput{Command: "x"}})
	again := must(l.Start(l.Within(), task.TaskID, ""))(t)
	if again.Base != base || again.Attempt != 2 || !again.Resumed || again.Calls != 2 || again.Cancelled || !slices.Equal(again.UnfinishedCalls, []choir.ID{open}) {
		t.Errorf("the second start is %+v", again)
	}
}

// TestAStartTellsHowOftenMemoryWasShort has sandboxes end before a task and after its start, for
// several reasons.
func TestAStartTellsHowOftenMemoryWasShort(t *testing.T) {
	l := newLab(t)
	stop := func(role choir.Role, reason string) {
		must(l.Log.Append(l.Within(), choir.RoleControl, must(l.Events.Draft(choir.SandboxStopped{Role: role, Reason: reason}))(t)))(t)
	}
	stop(choir.RoleAssociate, choir.SandboxOutOfMemory)
	task := l.start()
	stop(choir.RoleDirector, choir.SandboxOutOfMemory)
	stop(choir.RoleAssociate, "the computer went to sleep")
	for times := range 3 {
		if again := must(l.Start(l.Within(), task.TaskID, ""))(t); again.OutOfMemory != times || !again.Resumed {
			t.Errorf("after %d times: %+v", times, again)
		}
		stop(choir.RoleAssociate, choir.SandboxOutOfMemory)
	}
}

// TestAStartRecordsWhatNobodyToldOf has the owner's programs change the workspace before a
// task starts.
func TestAStartRecordsWhatNobodyToldOf(t *testing.T) {
	l := newLab(t)
	l.WriteOutside("x", "outside")
	task := l.start()
	if got := l.rootAt(l.Head()); got != l.root() {
		t.Errorf("the log has %s", got)
	}
	if _, written := task.writers(); len(written) > 0 {
		t.Errorf("the task is said to have written %q", written)
	}
}

func TestAStartListsWhatDiffersSinceASnapshot(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	l.WriteOutside("p/.git/index", "1")
	since := l.root()
	l.Write("a", "2")
	l.WriteOutside("p/.git/index", "2")
	l.Write("b", "1")
	got := must(l.Start(l.Within(), l.dispatch().TaskID, since))(t)
	if !got.Compared || !slices.Equal(got.Changed, []string{"a", "b"}) {
		t.Errorf("%+v", got)
	}
}

func TestASnapshotThatIsNotThereIsNotComparedWith(t *testing.T) {
	l := newLab(t)
	got := must(l.Start(l.Within(), l.dispatch().TaskID, choir.DigestOf([]byte("made up"))))(t)
	if got.Compared || len(got.Changed) > 0 {
		t.Errorf("%+v", got)
	}
}

func TestATaskThatIsToEndIsSaidToBe(t *testing.T) {
	l := newLab(t)
	task := l.start()
	d := must(l.Events.Draft(choir.TaskCancelRequested{Reason: "run_cancelled"}))(t).ForRun(task.RunID, task.TaskID)
	must(l.Log.Append(l.Within(), choir.RoleControl, d))(t)
	again := must(l.Start(l.Within(), task.TaskID, ""))(t)
	if !again.Cancelled || !again.Resumed {
		t.Errorf("%+v", again)
	}
}

// TestATaskIsAnsweredOnlyBeforeItBegins tries tasks in each state.
func TestATaskIsAnsweredOnlyBeforeItBegins(t *testing.T) {
	l := newLab(t)
	answered, waiting := l.start(), l.dispatch()
	answered.answer()
	for _, c := range []struct {
		name string
		task choir.ID
		want bool
	}{{"answered", answered.TaskID, false}, {"waiting", waiting.TaskID, true}, {"begun", l.start().TaskID, false}} {
		called := false
		got, err := l.IfUnbegun(l.Within(), c.task, func() error {
			called = true
			busy, stop := context.WithTimeout(l.Within(), 10*time.Millisecond)
			defer stop()
			if _, err := l.Start(busy, c.task, ""); err == nil {
				t.Error("the task began meanwhile")
			}
			return nil
		})
		if err != nil || got != c.want || called != c.want {
			t.Errorf("%s: %v, called %v: %v", c.name, got, called, err)
		}
	}
}

// TestAResultThatMayBeLandingIsNotAnswered stops a task after a crash in the middle of the landing of
// its result: the next start finishes that first.
func TestAResultThatMayBeLandingIsNotAnswered(t *testing.T) {
	l := newLab(t)
	task := l.dispatch()
	held := choir.EffectHeld{
		Base: l.root(), Snapshot: l.root(), Rules: []string{"x"}, Tools: []string{}, Hosts: []choir.EffectHost{},
		Result: choir.AssociateResult{
			Version: choir.ContractVersion, TaskID: task.TaskID, RunID: task.RunID, Status: choir.StatusOK, Summary: "done",
			FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
			Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown},
		},
	}
	must(l.Events.AppendToRun(l.Within(), choir.RoleControl, workspacetest.NewID(t), task.RunID, task.TaskID, held))(t)
	intent := filepath.Join(l.Data, workspace.IntentFile)
	if err := os.WriteFile(intent, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	answers := 0
	answer := func() error {
		answers++
		return nil
	}
	_, err := l.IfUnbegun(l.Within(), task.TaskID, answer)
	l.wantCode(err, choir.CodeUnavailable)
	if err := os.Remove(intent); err != nil {
		t.Fatal(err)
	}
	if done, err := l.IfUnbegun(l.Within(), task.TaskID, answer); !done || err != nil || answers != 1 {
		t.Errorf("answered %d times, %v, %v", answers, done, err)
	}
}

func TestOneTaskWorksAtATime(t *testing.T) {
	l := newLab(t)
	first, second := l.start(), l.dispatch()
	_, err := l.Start(l.Within(), second.TaskID, "")
	l.wantCode(err, choir.CodeUnavailable)
	first.answer()
	must(l.Start(l.Within(), second.TaskID, ""))(t)
}

func TestOnlyATaskThatWorksIsChanged(t *testing.T) {
	l := newLab(t)
	waiting, answered := l.dispatch(), l.dispatch()
	answered.answer()
	for _, c := range []struct {
		name string
		task choir.ID
		want choir.Code
	}{
		{"unknown", workspacetest.NewID(t), choir.CodeNotFound},
		{"not started", waiting.TaskID, choir.CodeConflict},
		{"answered", answered.TaskID, choir.CodeConflict},
	} {
		_, compare := l.Compare(l.Within(), c.task)
		_, commit := l.Commit(l.Within(), c.task, "task_ended", nil)
		_, command := l.CommitCommand(l.Within(), c.task)
		_, rollback := l.Rollback(l.Within(), c.task, nil)
		for _, err := range []error{compare, commit, command, rollback} {
			if choir.CodeOf(err) != c.want {
				t.Errorf("%s: %v, want the code %q", c.name, err, c.want)
			}
		}
	}
	_, err := l.Start(l.Within(), answered.TaskID, "")
	l.wantCode(err, choir.CodeConflict)
}
