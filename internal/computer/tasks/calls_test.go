package tasks

import (
	"context"
	"os"
	"slices"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

func TestEveryMomentBetweenToolCallsIsExact(t *testing.T) {
	l := newLab(t)
	l.Write("x", "0")
	task := l.start()
	type moment struct {
		seq  uint64
		root choir.Digest
	}
	var moments []moment
	for i, effect := range []func(){
		func() {
			l.WriteOutside("x", "1")
			l.WriteOutside("r/.git/HEAD", "h")
			l.noError(os.Mkdir(l.path("empty"), 0o755))
		},
		func() {},
		func() { l.remove("r"); l.noError(os.Symlink("x", l.path("l"))) },
		func() { l.noError(os.Chmod(l.path("empty"), 0o700)) },
	} {
		before, events := l.root(), l.Head()
		called, returned := task.call(true, effect)
		moments = append(moments, moment{called, before}, moment{returned, l.root()})
		if i == 1 && returned != events+2 {
			t.Errorf("call %d changed nothing and wrote %d events", i, returned-events)
		}
	}
	for _, m := range moments {
		if got := l.rootAt(m.seq); got != m.root {
			t.Errorf("after event %d the workspace is said to be %s, it was %s", m.seq, got, m.root)
		}
	}
	// What changed between two calls is told before the next.
	l.WriteOutside("o", "outside")
	outside := l.root()
	called, _ := task.call(true, func() { l.WriteOutside("x", "2") })
	if got := l.rootAt(called); got != outside {
		t.Errorf("what changed between the calls is missing: %s, not %s", got, outside)
	}
	// A call that only reads takes no look.
	l.WriteOutside("u", "unseen")
	called, returned := task.call(false, func() {})
	if returned != called+1 || l.rootAt(returned) == l.root() {
		t.Error("a reading call took a snapshot")
	}
	if got, want := task.snapshots(), []string{"tool_returned", "tool_returned", "tool_returned", "tool_called", "tool_returned"}; !slices.Equal(got, want) {
		t.Errorf("the snapshots are %q, want %q", got, want)
	}
	for _, e := range l.All(choir.TypeSnapshotTaken) {
		if p := must(choir.ReadPayload(e.Type, e.Payload))(t).(*choir.SnapshotTaken); p.Reason == "tool_returned" && e.Cause == "" {
			t.Errorf("event %d does not say by which call", e.Seq)
		}
	}
}

func TestACallGoesOnWhereTheWorkspaceCannotBeRead(t *testing.T) {
	l := newLab(t)
	task := l.start()
	for _, c := range []struct {
		why  choir.Code
		ends bool
	}{{choir.CodeBusy, false}, {choir.CodeForbidden, false}, {choir.CodeNoSpace, true}} {
		unread := l.changesOf(&unreadWorkspace{l.Workspace, choir.E("x", c.why, "it cannot be read")})
		d := must(l.Events.Draft(choir.ToolCalled{Call: workspacetest.NewID(t), Tool: "bash", Writes: true}))(t).ForRun(task.RunID, task.TaskID)
		if err := unread.RecordAround(l.Within(), []choir.Draft{d}); (err != nil) != c.ends {
			t.Errorf("%s: %v", c.why, err)
		}
	}
}

// unreadWorkspace is a workspace that cannot be scanned.
type unreadWorkspace struct {
	*workspace.Workspace
	why error
}

func (w *unreadWorkspace) Scan(context.Context, ...string) (snapshot.Result, *guest.Client, error) {
	return snapshot.Result{}, nil, w.why
}

// TestADraftThatIsSentAgainIsNotLookedAroundAgain has the Associate miss the answer to an
// append: what changed since is not part of what it told of.
func TestADraftThatIsSentAgainIsNotLookedAroundAgain(t *testing.T) {
	l := newLab(t)
	task := l.start()
	d := must(l.Events.Draft(choir.ToolCalled{Call: workspacetest.NewID(t), Tool: "bash", Writes: true, Input: choir.ToolInput{Command: "x"}}))(t).ForRun(task.RunID, task.TaskID)
	first := task.append(d)
	l.WriteOutside("x", "task")
	if again := task.append(d); again != first || l.Head() != first {
		t.Errorf("it is event %d, it was %d; the log ends with %d", again, first, l.Head())
	}
}
