package effects

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/computer/tasks"
	"choiros/internal/computer/workspace"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/guest/guesttest"
)

// A commit in a copy that neither landed nor is held is no result: other rules came into force
// in between.
func TestACommitThatIsInTheCopyAloneIsNoResult(t *testing.T) {
	t.Parallel()
	blobs := mem.New(mem.Config{})
	l := workspacetest.New(t, blobs, func(cfg *workspace.Config) { cfg.Confines = func() bool { return true } })
	l.Write("workspace/app/one", "before\n")
	ctx, quiet := l.Within(), slog.New(slog.DiscardHandler)
	rules := NewRules(nil, nil, l.Log, l.Keeper)
	changes := tasks.New(l.Computer, l.Data, l.Log, l.Events, l.Keeper, l.Workspace, workspacetest.Awake{Client: l.Client}, rules, quiet)
	e := New(l.Log, l.Events, blobs, l.Keeper, changes, l.Workspace, nil, rules, Config{Computer: l.Computer, Logger: quiet})
	task := choir.DirectorTask{
		Version: choir.ContractVersion, TaskID: workspacetest.NewID(t), Kind: choir.TaskEditRepo, Instruction: "x", Repo: "app", Worktree: true,
	}
	task.RunID = choir.DeriveID(task.TaskID, "run")
	if _, err := l.Events.AppendToRun(ctx, choir.RoleCLI, workspacetest.NewID(t), task.RunID, task.TaskID, choir.TaskDispatched{Task: task}); err != nil {
		t.Fatal(err)
	}
	inCopy := filepath.Join(guesttest.Worktrees(l.Dir), string(task.TaskID), "workspace/app")
	if err := os.MkdirAll(inCopy, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(inCopy, "one"), []byte("after\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if reply, err := changes.StartCopied(ctx, task.TaskID); err != nil || !reply.InWorktree {
		t.Fatalf("%+v, %v", reply, err)
	}
	draft := func(p choir.Payload) choir.Draft {
		d, err := choir.NewDraft(workspacetest.NewID(t), p)
		if err != nil {
			t.Fatal(err)
		}
		return d.ForRun(task.RunID, task.TaskID)
	}
	returned := draft(choir.TaskReturned{Result: choir.AssociateResult{
		Version: choir.ContractVersion, TaskID: task.TaskID, RunID: task.RunID, Status: choir.StatusOK, Summary: "done",
		FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
		Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown},
	}})
	committed := draft(choir.CheckpointCreated{Checkpoint: workspacetest.NewID(t), Snapshot: choir.DigestOf(nil), Subject: "x", Trigger: "task"})
	if err := e.Hold(ctx, []choir.Draft{committed, returned}); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("with a commit in the copy: %v", err)
	}
	if err := e.Hold(ctx, []choir.Draft{returned}); err != nil {
		t.Errorf("without one: %v", err)
	}
	reply, err := changes.Land(ctx, task.TaskID, nil)
	if err != nil || reply.Aside {
		t.Fatalf("%+v, %v", reply, err)
	}
	if err := e.Hold(ctx, []choir.Draft{committed, returned}); err != nil {
		t.Errorf("once it landed: %v", err)
	}
}
