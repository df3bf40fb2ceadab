package tasks

import (
	"slices"
	"testing"
)

func TestCommandsOfATaskAreMomentsOfTheirOwn(t *testing.T) {
	l := newLab(t)
	task := l.start()
	for _, effect := range []func(){
		func() { l.WriteOutside("x", "1") },
		func() {},
		func() { l.WriteOutside("y", "2") },
	} {
		effect()
		if got := must(l.CommitCommand(l.Within(), task.TaskID))(t); got.Snapshot != l.root() {
			t.Errorf("the commit is %s, the workspace %s", got.Snapshot, l.root())
		}
	}
	if got := task.snapshots(); !slices.Equal(got, []string{"tool_returned", "tool_returned"}) {
		t.Errorf("the snapshots are %q", got)
	}
}

// TestACommitLooksAtNoMoreThanTheGivenFolders commits only .git, as an Associate does when
// nothing else can have run.
func TestACommitLooksAtNoMoreThanTheGivenFolders(t *testing.T) {
	l := newLab(t)
	l.Write("p/a", "1")
	l.WriteOutside("p/.git/HEAD", "1")
	task := l.start()
	l.WriteOutside("p/a", "2")
	l.WriteOutside("p/.git/HEAD", "2")
	narrow := must(l.Commit(l.Within(), task.TaskID, "checkpoint", []string{"p/.git"}))(t)
	if narrow.Snapshot == l.root() || l.rootAt(l.Head()) != narrow.Snapshot {
		t.Error("it looked at the rest, too")
	}
	if got := must(l.Commit(l.Within(), task.TaskID, "task_ended", nil))(t); got.Snapshot != l.root() {
		t.Errorf("the commit is %s, the workspace %s", got.Snapshot, l.root())
	}
	if _, written := task.writers(); !slices.Equal(written, []string{"p/a"}) {
		t.Errorf("the task wrote %q", written)
	}
}

// TestACheckpointIsAMomentAlsoWhenNothingChanged commits twice.
func TestACheckpointIsAMomentAlsoWhenNothingChanged(t *testing.T) {
	l := newLab(t)
	l.Write("a", "1")
	task := l.start()
	must(l.Commit(l.Within(), task.TaskID, "task_ended", nil))(t)
	must(l.Commit(l.Within(), task.TaskID, "checkpoint", nil))(t)
	if got := task.snapshots(); !slices.Equal(got, []string{"checkpoint"}) {
		t.Errorf("the snapshots are %q", got)
	}
}

func TestTheOwnersPathsOfAnAnsweredTaskAreTheOnesTheTaskDidNotWrite(t *testing.T) {
	l := newLab(t)
	l.Write("both", "before")
	task := l.start()
	l.WriteOutside("both", "task")
	l.WriteOutside("new", "task")
	must(l.Commit(l.Within(), task.TaskID, "task_ended", nil))(t)
	l.Write("both", "owner")
	l.Write("mine", "owner")
	task.answer()
	l.Write("later", "owner")
	answered := must(l.Log.Task(l.Within(), task.TaskID))(t)
	if got := must(WrittenByOthers(l.Within(), l.Log, answered.ID, answered.StartedSeq, answered.ReturnedSeq))(t); !slices.Equal(got, []string{"mine"}) {
		t.Errorf("%q", got)
	}
}
