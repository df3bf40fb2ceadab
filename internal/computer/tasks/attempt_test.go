package tasks

import (
	"slices"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace/workspacetest"
)

// fail answers the task as one that failed, with what it tried, and takes that back.
func (t *task) fail() {
	t.T.Helper()
	tried := must(t.Compare(t.Within(), t.TaskID))(t.T).Snapshot
	must(t.Rollback(t.Within(), t.TaskID, nil))(t.T)
	t.appendEvent(choir.TaskReturned{Result: choir.AssociateResult{
		Version: choir.ContractVersion, TaskID: t.TaskID, RunID: t.RunID, Status: choir.StatusFailed, Code: choir.ResultVerifyFailed, Attempt: tried,
		FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
		Verify: choir.VerifyOutcome{Mode: choir.VerifySmoke, Status: choir.VerifyFail},
	}})
}

// goOnFrom starts a task in the run of another one, from whose attempt it goes on.
func (l *lab) goOnFrom(of *task, repo string) *task {
	l.T.Helper()
	t := &task{lab: l, DirectorTask: choir.DirectorTask{
		Version: choir.ContractVersion, TaskID: workspacetest.NewID(l.T), RunID: of.RunID, Kind: choir.TaskEditRepo, Instruction: "x", Repo: repo, FromAttempt: of.TaskID,
	}}
	must(l.Events.AppendToRun(l.Within(), choir.RoleCLI, workspacetest.NewID(l.T), t.RunID, t.TaskID, choir.TaskDispatched{Task: t.DirectorTask}))(l.T)
	must(l.Start(l.Within(), t.TaskID, ""))(l.T)
	return t
}

// TestAnAttemptIsRestoredAsTheTasksChange keeps what the owner changed since, and what git
// has; a rollback takes all of it back.
func TestAnAttemptIsRestoredAsTheTasksChange(t *testing.T) {
	l := newLab(t)
	l.WriteOutside("a/.git/HEAD", "before\n")
	for _, path := range []string{"a/changed", "a/removed", "a/owners"} {
		l.Write(path, "before\n")
	}
	first := l.start()
	for _, path := range []string{"a/changed", "a/owners", "a/.git/HEAD", "new/deep/file"} {
		l.WriteOutside(path, "tried\n")
	}
	l.remove("a/removed")
	first.fail()
	l.WantFiles(map[string]string{"a/changed": "before\n", "a/removed": "before\n", "a/owners": "before\n", "a/.git/HEAD": "before\n"})
	l.Write("a/owners", "owner\n")

	second := l.goOnFrom(first, "")
	l.TerminalUsed() // what it restores is not the terminal's
	reply := must(l.RestoreAttempt(l.Within(), second.TaskID))(t)
	l.WantFiles(map[string]string{"a/changed": "tried\n", "a/owners": "owner\n", "a/.git/HEAD": "before\n", "new/deep/file": "tried\n"})
	if !slices.Equal(reply.Left, []string{"a/owners"}) {
		t.Errorf("left %q", reply.Left)
	}
	if now := l.root(); now != l.rootAt(l.Head()) {
		t.Error("the log does not have the tree")
	}
	if _, wrote := second.writers(); !slices.Contains(wrote, "a/changed") || slices.Contains(wrote, "a/owners") {
		t.Errorf("the log says that the task wrote %q", wrote)
	}
	must(l.Rollback(l.Within(), second.TaskID, nil))(t)
	l.WantFiles(map[string]string{"a/changed": "before\n", "a/removed": "before\n", "a/owners": "owner\n", "a/.git/HEAD": "before\n"})
}

func TestOnlyAnAttemptOfTheRunAndTheProjectIsRestored(t *testing.T) {
	l := newLab(t)
	l.Write("workspace/app/a", "before\n")
	fine := l.start()
	fine.answer()
	failed := l.start()
	l.WriteOutside("workspace/app/a", "tried\n")
	failed.fail()
	elsewhere := *failed
	elsewhere.RunID = fine.RunID
	for _, c := range []struct {
		of   *task
		repo string
	}{{fine, ""}, {failed, "app"}, {&elsewhere, ""}} {
		next := l.goOnFrom(c.of, c.repo)
		_, err := l.RestoreAttempt(l.Within(), next.TaskID)
		l.wantCode(err, choir.CodeInvalid)
		next.answer()
	}
	l.WantFiles(map[string]string{"workspace/app/a": "before\n"})
}
