package workspace

import (
	"testing"

	"choiros/internal/choir"
)

func TestATerminalsWritesBetweenToolCallsSurviveTheTasksFailure(t *testing.T) {
	t.Parallel()
	tc := newTerminalChanges(nil)
	tc.terminalUsed()
	if tc.byTerminal("tool_returned") || tc.byTerminal("tool_called") {
		t.Error("what changed during a call is taken for the owner's")
	}
	tc.terminalUsed()
	if !tc.byTerminal("tool_called") || tc.byTerminal("tool_called") {
		t.Error("what changed before a call is not the owner's, once")
	}
}

func TestWhatATerminalChangesIsRecordedOnceItIsQuiet(t *testing.T) {
	l := newLab(t)
	l.write("base", "1")
	before := l.head()
	l.outside("made", "by hand")
	l.TerminalUsed()
	for e, err := range l.log.Follow(l.within(), before) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == choir.TypeSnapshotTaken {
			break
		}
	}
	if told := l.told(before); len(told) != 1 || told["made"] != choir.SourceUser {
		t.Errorf("the log says %v", told)
	}
}

// A task in a worktree changes nothing of the tree: what terminals change meanwhile is
// recorded as without it, and the tree still counts as one in which a task works.
func TestWhatATerminalChangesBesideAWorktreeIsRecorded(t *testing.T) {
	l := newLab(t)
	l.write("base", "1")
	task := choir.DirectorTask{Version: choir.ContractVersion, TaskID: must(newTestID())(t), RunID: must(newTestID())(t), Kind: choir.TaskEditRepo, Instruction: "x", Repo: "app", Worktree: true}
	must(l.events.AppendToRun(l.within(), choir.RoleCLI, must(newTestID())(t), task.RunID, task.TaskID, choir.TaskDispatched{Task: task}))(t)
	root := must(l.LastSnapshot(l.within()))(t)
	must(l.events.AppendToRun(l.within(), choir.RoleControl, must(newTestID())(t), task.RunID, task.TaskID, choir.TaskStarted{Base: root, Attempt: 1, Worktree: root}))(t)
	if unlock := must(l.LockIdle(l.within()))(t); unlock != nil {
		t.Error("no task works")
	}
	before := l.head()
	l.outside("made", "by hand")
	l.TerminalUsed()
	for e, err := range l.log.Follow(l.within(), before) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == choir.TypeSnapshotTaken {
			break
		}
	}
	if told := l.told(before); len(told) != 1 || told["made"] != choir.SourceUser {
		t.Errorf("the log says %v", told)
	}
}
