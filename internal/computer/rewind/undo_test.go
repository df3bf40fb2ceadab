package rewind

import (
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace/workspacetest"
)

// TestUndoOfARunTakesAllItsTasksBack: what the tasks of one run changed goes back
// together, also where one changed what another had made, and what another run did
// in between stays.
func TestUndoOfARunTakesAllItsTasksBack(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1\n2\n3\n4\n5\n6\n7\n8\n")
	run := l.prompt()
	l.finish(run)
	l.work(run, map[string]string{"a": "1\ntwo\n3\n4\n5\n6\n7\n8\n", "made": "made\n"})
	l.work(workspacetest.NewID(t), map[string]string{"a": "1\ntwo\n3\n4\n5\n6\nseven\n8\n", "other": "other\n"})
	l.work(run, map[string]string{"a": "1\nzwei\n3\n4\n5\n6\nseven\n8\n", "made": "made\nmore\n"})
	plan := must(l.Undo(l.Within(), choir.RoleShell, run, true))(t)
	done := must(l.Undo(l.Within(), choir.RoleShell, run, false))(t)
	l.WantFiles(map[string]string{"a": "1\n2\n3\n4\n5\n6\nseven\n8\n", "other": "other\n"})
	if told := l.All(choir.TypeTimelineUndone); len(told) != 1 || told[0].Source != choir.SourceUser || len(plan.Changes) != len(done.Changes) {
		t.Errorf("%+v; planned %d changes, made %d", told, len(plan.Changes), len(done.Changes))
	}
	if again := must(l.Undo(l.Within(), choir.RoleShell, run, false))(t); again.Receipt.Seq != 0 {
		t.Errorf("once more it changes %+v", again.Changes)
	}
}

func TestAnUndoThatConflictsChangesNothing(t *testing.T) {
	l := newLab(t)
	l.Write("a", "one\n")
	run := l.prompt()
	l.finish(run)
	first := l.work(run, map[string]string{"a": "two\n", "b": "b\n"})
	l.work(workspacetest.NewID(t), map[string]string{"a": "three\n"})
	l.work(run, map[string]string{"a": "four\n"})
	before, head := l.Files(""), l.Head()
	for _, of := range []choir.ID{first, run} {
		a, err := l.Undo(l.Within(), choir.RoleCLI, of, false)
		if choir.CodeOf(err) != choir.CodeConflict || len(a.Conflicts) != 1 || a.Conflicts[0].Path != "a" {
			t.Errorf("%v, conflicts %+v", err, a.Conflicts)
		}
	}
	if l.WantFiles(before); l.Head() != head {
		t.Errorf("it wrote %d events", l.Head()-head)
	}
}

// TestUndoKeepsWhatTheOwnerWroteMeanwhile: an undo takes back what the task did,
// and nothing else that happened while it ran.
func TestUndoKeepsWhatTheOwnerWroteMeanwhile(t *testing.T) {
	l := newLab(t)
	l.Write("x", "x\n")
	run := l.prompt()
	task := l.startTask(run)
	l.WriteOutside("task", "task\n")
	l.Write("mine", "owner\n")
	l.owners = []string{"mine"}
	l.answer(run, task, choir.StatusOK)
	must(l.Undo(l.Within(), choir.RoleCLI, task, false))(t)
	l.WantFiles(map[string]string{"x": "x\n", "mine": "owner\n"})
}

func TestUndoOfACallTakesBackThatCall(t *testing.T) {
	l := newLab(t)
	l.Write("x", "x\n")
	run, call := l.prompt(), workspacetest.NewID(t)
	task := l.startTask(run)
	l.appendAs(choir.RoleAssociate, run, task, choir.ToolCalled{Call: call, Tool: "bash", Writes: true, Input: choir.ToolInput{Command: "make"}})
	refused := func(what string, of choir.ID, want choir.Code) {
		t.Helper()
		if _, err := l.Undo(l.Within(), choir.RoleCLI, of, false); choir.CodeOf(err) != want {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("a call that has not returned", call, choir.CodeConflict)
	l.WriteOutside("call", "call\n")
	l.Record(nil)
	l.appendAs(choir.RoleAssociate, run, task, choir.ToolReturned{Call: call, OK: true})
	l.WriteOutside("later", "later\n")
	refused("a call of a task at work", call, choir.CodeConflict)
	refused("a task that has not ended", task, choir.CodeConflict)
	refused("a run that has not ended", run, choir.CodeConflict)
	refused("what is not there", workspacetest.NewID(t), choir.CodeNotFound)
	refused("nonsense", "nonsense", choir.CodeNotFound)
	l.answer(run, task, choir.StatusOK)
	must(l.Undo(l.Within(), choir.RoleCLI, call, false))(t)
	l.WantFiles(map[string]string{"x": "x\n", "later": "later\n"})
}
