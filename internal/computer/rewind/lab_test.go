package rewind

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/computer/moments"
	"choiros/internal/computer/treemerge"
	"choiros/internal/computer/workspace"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/eventstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// terminals are two that are open.
type terminals struct{ stopped choir.TerminalReason }

func (f *terminals) Stop(why choir.TerminalReason, _ string) (int, func()) {
	f.stopped = why
	return f.Count(), func() {}
}

func (*terminals) Count() int { return 2 }

// lab is a Rewinder of a workspace of which nothing else runs.
type lab struct {
	*workspacetest.Lab
	*Rewinder
	past   *moments.Moments
	open   *terminals
	owners []string // what the owner wrote while any task worked
}

func newLab(t *testing.T, change ...func(*workspace.Config)) *lab {
	t.Helper()
	t.Parallel()
	l := &lab{Lab: workspacetest.New(t, mem.New(mem.Config{}), change...), open: &terminals{}}
	all := func(_ context.Context, root choir.Digest) (choir.Digest, []string, error) { return root, nil, nil }
	l.past = moments.New(l.Log, l.Log, l.Keeper, all)
	merger := treemerge.New(l.Log, l.Events, l.Workspace, l.Keeper, l.open, time.Now)
	l.Rewinder = New(l.Log, l.Events, l.past, l.Workspace, l.Keeper, merger, l.open, Config{
		Available:       all,
		WrittenByOthers: func(context.Context, choir.ID, uint64, uint64) ([]string, error) { return l.owners, nil },
	})
	return l
}

// appendAs appends an event of a run, and of a task of it unless that is empty.
func (l *lab) appendAs(role choir.Role, run, task choir.ID, p choir.Payload) choir.Receipt {
	l.T.Helper()
	return must(l.Events.AppendToRun(l.Within(), role, workspacetest.NewID(l.T), run, task, p))(l.T)
}

// prompt begins a run.
func (l *lab) prompt() choir.ID {
	l.T.Helper()
	run := workspacetest.NewID(l.T)
	l.appendAs(choir.RoleCLI, run, "", choir.PromptSubmitted{Text: "x"})
	return run
}

// finish ends a run.
func (l *lab) finish(run choir.ID) {
	l.T.Helper()
	l.appendAs(choir.RoleControl, run, "", choir.RunFinished{Outcome: choir.OutcomeDone, Answer: "Done."})
}

// startTask starts a task of a run, which works in the workspace from then on.
func (l *lab) startTask(run choir.ID) (task choir.ID) {
	l.T.Helper()
	task = workspacetest.NewID(l.T)
	l.appendAs(choir.RoleControl, run, task, choir.TaskDispatched{Task: choir.DirectorTask{Version: choir.ContractVersion, TaskID: task, RunID: run, Kind: choir.TaskEditRepo, Instruction: "x"}})
	l.appendAs(choir.RoleControl, run, task, choir.TaskStarted{Base: must(l.LastSnapshot(l.Within()))(l.T), Attempt: 1})
	return task
}

// answer records what a task changed, and answers it.
func (l *lab) answer(run, task choir.ID, status choir.Status) {
	l.T.Helper()
	l.Record(&eventstore.Task{ID: task, Run: run})
	code := choir.ResultCode("")
	if status == choir.StatusFailed {
		code = choir.ResultCancelled
	}
	l.appendAs(choir.RoleControl, run, task, choir.TaskReturned{Result: choir.AssociateResult{
		Version: choir.ContractVersion, TaskID: task, RunID: run, Status: status, Code: code, Summary: "s",
		FilesChanged: []choir.FileChange{{Path: "a", Change: "modified"}}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
		Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown},
	}})
}

// work is a whole task that writes files as a program does.
func (l *lab) work(run choir.ID, files map[string]string) (task choir.ID) {
	l.T.Helper()
	task = l.startTask(run)
	for path, content := range files {
		l.WriteOutside(path, content)
	}
	l.answer(run, task, choir.StatusOK)
	return task
}

// rewound goes back to a moment.
func (l *lab) rewound(to uint64) Rewound {
	l.T.Helper()
	return must(l.Rewind(l.Within(), choir.RoleCLI, to, false))(l.T)
}

// must ends the test at an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
