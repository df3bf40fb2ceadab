package effects

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/computer/treemerge"
	"choiros/internal/computer/workspace"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/snapshot"
)

// answerLab is a workspace with the result of a task that waits for the owner.
type answerLab struct {
	*workspacetest.Lab
	*Effects
	run, task choir.ID
}

// newAnswerLab holds the result of a task that writes "after" to the file app/x, which has "before",
// and makes the file app/new.
func newAnswerLab(t *testing.T) *answerLab {
	t.Helper()
	t.Parallel()
	blobs := mem.New(mem.Config{})
	l := &answerLab{
		Lab: workspacetest.New(t, blobs, func(cfg *workspace.Config) {
			cfg.Hold = snapshot.Limits{FileBytes: 1 << 10, TreeBytes: 1 << 30, Entries: 20_000}
		}),
		run: workspacetest.NewID(t), task: workspacetest.NewID(t),
	}
	merger := treemerge.New(l.Log, l.Events, l.Workspace, l.Keeper, noTerminals{}, time.Now)
	l.Effects = New(l.Log, l.Events, blobs, l.Keeper, nil, l.Workspace, merger, NewRules(nil, nil, l.Log, l.Keeper),
		Config{Computer: l.Computer, Logger: slog.New(slog.DiscardHandler)})
	task := choir.DirectorTask{Version: choir.ContractVersion, TaskID: l.task, RunID: l.run, Kind: choir.TaskEditRepo, Instruction: "x", Repo: "app"}
	l.appendEvent(choir.RoleCLI, l.task, choir.TaskDispatched{Task: task})
	l.Write("app/x", "before")
	base := l.root()
	l.Write("app/x", "after")
	l.Write("app/new", "made")
	theirs := l.root()
	l.Write("app/x", "before")
	if err := os.Remove(filepath.Join(l.Dir, "app/new")); err != nil {
		t.Fatal(err)
	}
	l.Record(nil)
	l.appendEvent(choir.RoleControl, l.task, choir.EffectHeld{
		Rules: []string{"x"}, Base: base, Snapshot: theirs, Tools: []string{}, Hosts: []choir.EffectHost{},
		Result: choir.AssociateResult{
			Version: choir.ContractVersion, TaskID: l.task, RunID: l.run, Status: choir.StatusOK,
			FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
			Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown},
		},
	})
	return l
}

// appendEvent appends an event of the run.
func (l *answerLab) appendEvent(role choir.Role, task choir.ID, p choir.Payload) {
	l.T.Helper()
	if _, err := l.Events.AppendToRun(l.Within(), role, workspacetest.NewID(l.T), l.run, task, p); err != nil {
		l.T.Fatal(err)
	}
}

// root returns the tree as it is now.
func (l *answerLab) root() choir.Digest {
	l.T.Helper()
	unlock, err := l.Lock(l.Within())
	if err != nil {
		l.T.Fatal(err)
	}
	defer unlock()
	now, _, err := l.Scan(l.Within())
	if err != nil {
		l.T.Fatal(err)
	}
	return now.Root
}

// wantUnanswered fails the test if the result has an answer or is in the workspace.
func (l *answerLab) wantUnanswered() {
	l.T.Helper()
	if answers := l.All(choir.TypeEffectAnswered); len(answers) != 0 {
		l.T.Errorf("answered with %s", answers[0].Payload)
	}
	if again := l.All(choir.TypeTaskDispatched); len(again) != 1 {
		l.T.Errorf("%d tasks are dispatched", len(again))
	}
	if has, err := os.ReadFile(filepath.Join(l.Dir, "app/x")); err != nil || string(has) == "after" {
		l.T.Errorf("the workspace has %q, %v", has, err)
	}
}

// TestNoResultOfAStoppedRunLands answers a result after its run was stopped and before its task has
// the result of a stopped one.
func TestNoResultOfAStoppedRunLands(t *testing.T) {
	l := newAnswerLab(t)
	l.appendEvent(choir.RoleShell, "", choir.RunCancelRequested{})
	err := l.Approve(l.Within(), choir.RoleShell, l.task)
	_, again := l.Again(l.Within(), choir.RoleShell, l.task)
	for _, err := range []error{err, again} {
		if why, _ := choir.ReasonOf(err); why != choir.ReasonRunEnded {
			t.Errorf("answered: %v", err)
		}
	}
	l.wantUnanswered()
	if err := l.Refuse(l.Within(), choir.RoleShell, l.task, ""); err != nil {
		t.Errorf("refused: %v", err)
	}
}

// TestAResultOfARunAtWorkLands has an owner who stopped another run.
func TestAResultOfARunAtWorkLands(t *testing.T) {
	l := newAnswerLab(t)
	if _, err := l.Events.AppendToRun(l.Within(), choir.RoleShell, workspacetest.NewID(t), workspacetest.NewID(t), "", choir.RunCancelRequested{}); err != nil {
		t.Fatal(err)
	}
	if err := l.Approve(l.Within(), choir.RoleShell, l.task); err != nil {
		t.Fatal(err)
	}
	l.WantFiles(map[string]string{"app/x": "after", "app/new": "made"})
}

// TestAFileBeyondTheLimitsIsInTheWayOfAResult has a file of the owner that no snapshot holds where a
// result makes another: the result is not taken for landed.
func TestAFileBeyondTheLimitsIsInTheWayOfAResult(t *testing.T) {
	l := newAnswerLab(t)
	large := strings.Repeat("x", 4<<10)
	l.WriteOutside("app/new", large)
	err := l.Approve(l.Within(), choir.RoleShell, l.task)
	if why, _ := choir.ReasonOf(err); why != choir.ReasonEffectMoved || !strings.Contains(err.Error(), "app/new") {
		t.Errorf("approved: %v", err)
	}
	l.wantUnanswered()
	l.WantFiles(map[string]string{"app/x": "before", "app/new": large})
}

// TestAFileBeyondTheLimitsElsewhereIsInNobodysWay has such a file beside the result.
func TestAFileBeyondTheLimitsElsewhereIsInNobodysWay(t *testing.T) {
	l := newAnswerLab(t)
	large := strings.Repeat("x", 4<<10)
	l.WriteOutside("app/large", large)
	if err := l.Approve(l.Within(), choir.RoleShell, l.task); err != nil {
		t.Fatal(err)
	}
	l.WantFiles(map[string]string{"app/x": "after", "app/new": "made", "app/large": large})
}

// noTerminals is a computer without terminals.
type noTerminals struct{}

func (noTerminals) Count() int { return 0 }

func (noTerminals) Stop(choir.TerminalReason, string) (int, func()) { return 0, func() {} }
