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
