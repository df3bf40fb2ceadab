package treemerge

import (
	"maps"
	"testing"
	"time"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/timeline"
)

// terminals end once, after a program in one of them has written something.
type terminals struct {
	last     func() // nil while no terminal is open
	stopped  choir.TerminalReason
	released bool
}

func (f *terminals) Stop(why choir.TerminalReason, _ string) (int, func()) {
	f.stopped = why
	ended := 0
	if f.last != nil {
		f.last()
		f.last, ended = nil, 1
	}
	return ended, func() { f.released = true }
}

func (f *terminals) Count() int {
	if f.last == nil {
		return 0
	}
	return 1
}

// lab is a Merger on a workspace with two files, of which the last undone change is
// known.
type lab struct {
	*workspacetest.Lab
	*Merger
	open          *terminals
	before, after choir.Digest // of a change of both files
}

func newLab(t *testing.T) *lab {
	t.Helper()
	t.Parallel()
	l := &lab{Lab: workspacetest.New(t, mem.New(mem.Config{})), open: &terminals{}}
	l.Merger = New(l.Log, l.Events, l.Workspace, l.Keeper, l.open, time.Now)
	l.Write("a", "1\n2\n3\n")
	l.Write("b", "old\n")
	l.before = l.last()
	l.Write("a", "one\n2\n3\n")
	l.Write("b", "new\n")
	l.after = l.last()
	return l
}

// last is the newest snapshot of the tree.
func (l *lab) last() choir.Digest {
	l.T.Helper()
	root, err := l.LastSnapshot(l.Within())
	if err != nil {
		l.T.Fatal(err)
	}
	return root
}

// undo is the step that takes the change back.
func (l *lab) undo() Step {
	return Step{
		Base: l.after, Theirs: l.before, Reason: "undo", Terminal: choir.TerminalUndo, Words: "over",
		Record: func(before, now choir.Digest, files int64) choir.Payload {
			return choir.TimelineUndone{Of: l.Computer, Before: before, Snapshot: now, Files: files}
		},
	}
}

// wantFiles fails the test unless the tree has these files and no others.
func (l *lab) wantFiles(want map[string]string) {
	l.T.Helper()
	if got := l.Files(""); !maps.Equal(got, want) {
		l.T.Errorf("the tree has %q, want %q", got, want)
	}
}

func TestAStepIsMergedWithWhatCameAfterAndRecordedOnce(t *testing.T) {
	l := newLab(t)
	l.Write("a", "one\n2\nthree\n")
	before, head := l.Files(""), l.Head()
	plan, err := l.Apply(l.Within(), choir.RoleShell, l.undo(), true)
	if err != nil || len(plan.Changes) == 0 || plan.Receipt.Seq != 0 || l.Head() != head || l.open.stopped != "" {
		t.Fatalf("a dry run gives %+v, %v", plan, err)
	}
	l.wantFiles(before)

	got, err := l.Apply(l.Within(), choir.RoleShell, l.undo(), false)
	if err != nil {
		t.Fatal(err)
	}
	l.wantFiles(map[string]string{"a": "1\n2\nthree\n", "b": "old\n"})
	told := l.All(choir.TypeTimelineUndone)
	if len(told) != 1 || told[0].Seq != got.Receipt.Seq || got.BackSeq != head || got.To != l.last() || !l.open.released {
		t.Errorf("it did %+v, the log has %+v", got, told)
	}
	if again, err := l.Apply(l.Within(), choir.RoleShell, l.undo(), false); err != nil || len(again.Changes) != 0 || again.Receipt.Seq != 0 {
		t.Errorf("once more it does %+v, %v", again, err)
	}
}

func TestAStepThatConflictsChangesNothing(t *testing.T) {
	l := newLab(t)
	l.Write("b", "mine\n")
	before, head := l.Files(""), l.Head()
	got, err := l.Apply(l.Within(), choir.RoleShell, l.undo(), false)
	if choir.CodeOf(err) != choir.CodeConflict || len(got.Conflicts) != 1 || got.Conflicts[0].Path != "b" {
		t.Errorf("%+v, %v", got, err)
	}
	if l.wantFiles(before); l.Head() != head || l.open.stopped != "" {
		t.Error("something was done")
	}
}

func TestWhatATerminalWroteLastIsMergedToo(t *testing.T) {
	l := newLab(t)
	l.WriteOutside("c", "unrecorded\n")
	l.open.last = func() { l.WriteOutside("a", "one\n2\nlast\n") }
	got, err := l.Apply(l.Within(), choir.RoleShell, l.undo(), false)
	if err != nil {
		t.Fatal(err)
	}
	l.wantFiles(map[string]string{"a": "1\n2\nlast\n", "b": "old\n", "c": "unrecorded\n"})
	// What nobody had recorded is in the moment before, to go back to.
	if taken, _, err := l.Log.SnapshotAt(l.Within(), got.BackSeq); err != nil || taken.Snapshot != got.From || got.From == l.after {
		t.Errorf("the moment before is %+v, %v", taken, err)
	}
}

func TestARefusalNamesSomeConflicts(t *testing.T) {
	t.Parallel()
	if err := ConflictsError(nil); err != nil {
		t.Errorf("without one: %v", err)
	}
	all := []timeline.Conflict{{Path: "a"}, {Path: "b"}, {Path: "c"}, {Path: "d"}}
	p := choir.ProblemOf(ConflictsError(all))
	if want := "4 paths were changed differently since: a, b, c, and more"; p.Code != choir.CodeConflict || p.Message != want {
		t.Errorf("%+v", p)
	}
}
