package computer

import (
	"strconv"
	"testing"

	"choiros/internal/choir"
)

// squat has the Associate hold an id that is not its own.
func (l *lab) squat(id choir.ID, task choir.DirectorTask) {
	l.t.Helper()
	d := must(choir.NewDraft(id, choir.TaskProgressed{Kind: "progress", Text: "mine"}))(l.t)
	ask[choir.AppendReply](l, choir.RoleAssociate, choir.VerbAppend, choir.AppendRequest{Drafts: []choir.Draft{d.ForRun(task.RunID, task.TaskID)}})
}

// TestAnAssociateCannotHoldUpTheComputer: the Associate takes the ids that follow
// from its task's, so that nobody else can answer it, and is stopped then.
func TestAnAssociateCannotHoldUpTheComputer(t *testing.T) {
	l := newLab(t)
	l.write("x", "before\n")
	before, _ := l.Store().Head()
	base := l.root()
	task := l.commands(choir.TaskEditRepo, "echo half > x; touch /tmp/begun; "+hold)
	l.made("/tmp/begun")
	for _, name := range []string{"returned", "checkpointed"} {
		l.squat(choir.DeriveID(task.TaskID, name), task)
	}
	l.sh("kill -STOP " + strconv.Itoa(l.rolePID()))
	if err := l.Runs().Cancel(l.within(), choir.RoleCLI, task.RunID, ""); err != nil {
		t.Fatal(err)
	}
	if r := l.result(task); r.Code != choir.ResultCancelled {
		t.Errorf("%s %s", r.Code, r.Summary)
	}
	if now := l.root(); now != base {
		t.Errorf("the workspace is not what it was: %s", l.sh("cat x"))
	}
	if r := l.result(l.commands(choir.TaskEditRepo, "echo after > x")); r.Status != choir.StatusOK {
		t.Errorf("the next task: %s %s", r.Code, r.Summary)
	}
	must(l.Rewinder().Rewind(l.within(), choir.RoleCLI, before, false))(t)
	if now := l.root(); now != base {
		t.Errorf("after the rewind: %s", l.sh("cat x"))
	}
	if n := len(l.all("task.returned")); n != 2 {
		t.Errorf("%d results of two tasks", n)
	}
	// The same over a restart: nothing is open.
	l.stop()
	again := openLab(t, l.cfg)
	if open := must(again.Store().OpenTasks(again.within()))(t); len(open) != 0 {
		t.Errorf("%d tasks are open", len(open))
	}
	if r := again.result(again.commands(choir.TaskRun, "true")); r.Status != choir.StatusOK {
		t.Errorf("after a restart: %s %s", r.Code, r.Summary)
	}
}

// TestWhatATaskSaysIsThereWhoeverTookItsNames: the Director takes the ids that
// follow from a task's before the Associate uses them.
func TestWhatATaskSaysIsThereWhoeverTookItsNames(t *testing.T) {
	l := newLab(t)
	l.write("x", "before\n")
	task := must(l.Tasks().NewTask(choir.DirectorTask{
		Kind: choir.TaskEditRepo, Instruction: "x", VerifyProfile: &choir.VerifyProfile{Mode: choir.VerifyNone},
		Commands: []choir.Command{{Shell: "echo after > x; curl -sS http://example.org/; true"}},
	}))(t)
	for _, id := range []choir.ID{
		choir.DeriveID(task.TaskID, "dispatched"), choir.DeriveID(task.TaskID, "returned"), choir.DeriveID(task.TaskID, "checkpointed"),
		choir.DeriveID(task.TaskID, "egress", "example.org"),
	} {
		d := must(choir.NewDraft(id, choir.PlanRefused{Problems: []string{"mine"}}))(t)
		ask[choir.AppendReply](l, choir.RoleDirector, choir.VerbAppend, choir.AppendRequest{Drafts: []choir.Draft{d.ForRun(task.RunID, "")}})
	}
	for range 2 {
		must(l.Tasks().Submit(l.within(), choir.RoleCLI, task))(t)
	}
	if r := l.result(task); r.Status != choir.StatusOK {
		t.Errorf("%s %s", r.Code, r.Summary)
	}
	for _, want := range []choir.Type{"task.dispatched", "task.returned", "checkpoint.created", "egress.refused"} {
		if n := len(l.all(want)); n != 1 {
			t.Errorf("%d %s", n, want)
		}
	}
}
