package reconcile

import (
	"os"
	"path/filepath"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
)

// startCopied starts a sandbox with a workspace of its own, which is empty.
func (l *lab) startCopied() {
	l.T.Helper()
	entries, err := os.ReadDir(l.Dir)
	if err != nil {
		l.T.Fatal(err)
	}
	for _, e := range entries {
		l.remove(e.Name())
	}
	l.layOutCopied()
	if err := l.FirstLook(l.Within(), l.Client, false); err != nil {
		l.T.Fatal(err)
	}
}

func (l *lab) layOutCopied() {
	l.T.Helper()
	if err := l.LayOut(l.Within(), l.Client, false, true); err != nil {
		l.T.Fatal(err)
	}
}

func (l *lab) copyOut() {
	l.T.Helper()
	if err := l.CopyOut(l.Within(), l.Client); err != nil {
		l.T.Fatal(err)
	}
}

// on reads a file of the tree; empty when it is not there.
func (l *lab) on(path string) string {
	raw, _ := os.ReadFile(filepath.Join(l.Dir, path))
	return string(raw)
}

func (l *lab) keepsTree() bool {
	l.T.Helper()
	keeps, err := l.KeepsTree(l.Within())
	if err != nil {
		l.T.Fatal(err)
	}
	return keeps
}

func TestACopiedWorkspaceGoesOnAsItWasFetched(t *testing.T) {
	l := newLab(t)
	l.startCopied()
	l.Write("x", "1")
	head := l.Head()
	l.WriteOutside("x", "2")
	l.WriteOutside("y", "new")
	l.copyOut()
	if l.Head() != head || !l.keepsTree() {
		t.Error("fetching it is no event, and its content is kept")
	}
	l.startCopied()
	if l.on("x") != "2" || l.on("y") != "new" {
		t.Errorf("it has %q and %q", l.on("x"), l.on("y"))
	}
	if got := l.sourcesOf(head); got["x"] != choir.SourceUser || got["y"] != choir.SourceUser {
		t.Errorf("changed by %v", got)
	}
	if l.keepsTree() {
		t.Error("what is in the log is still kept beside it")
	}
}

// TestAFetchedWorkspaceOfThePastIsLeft has the log go on after a workspace was fetched,
// and the sandbox end without another fetch.
func TestAFetchedWorkspaceOfThePastIsLeft(t *testing.T) {
	l := newLab(t)
	l.startCopied()
	l.Write("x", "1")
	l.copyOut()
	l.startCopied()
	l.Write("x", "2")
	newest, err := l.LastSnapshot(l.Within())
	if err != nil {
		t.Fatal(err)
	}
	l.WriteOutside("x", "lost with the sandbox")
	l.startCopied()
	if l.on("x") != "2" {
		t.Errorf("it has %q", l.on("x"))
	}
	if now, err := l.LastSnapshot(l.Within()); now != newest || err != nil {
		t.Errorf("the loss was recorded: %s, then %s, %v", newest, now, err)
	}
}

// TestAFillThatIsRepeatedDoesTheSame has a crash come between the filling and the look.
func TestAFillThatIsRepeatedDoesTheSame(t *testing.T) {
	l := newLab(t)
	l.startCopied()
	l.Write("x", "1")
	l.WriteOutside("y", "unseen")
	l.copyOut()
	l.remove("x")
	l.layOutCopied()
	l.remove("y")
	l.startCopied()
	if l.on("x") != "1" || l.on("y") != "unseen" {
		t.Errorf("it has %q and %q", l.on("x"), l.on("y"))
	}
}

// TestAFolderOfTheHostIsFilledOnceTheWorkspaceIsBackInIt binds a folder that is behind.
func TestAFolderOfTheHostIsFilledOnceTheWorkspaceIsBackInIt(t *testing.T) {
	l := newLab(t)
	l.startCopied()
	l.Write("x", "1")
	l.WriteOutside("y", "unseen")
	l.copyOut()
	l.WriteOutside("x", "of long ago")
	l.remove("y")
	l.start(false)
	if l.on("x") != "1" || l.on("y") != "unseen" {
		t.Errorf("it has %q and %q", l.on("x"), l.on("y"))
	}
	l.WriteOutside("x", "2")
	l.start(false)
	if l.on("x") != "2" {
		t.Errorf("the folder was filled again: %q", l.on("x"))
	}
}

// startTask starts a task, which works in the workspace from then on.
func (l *lab) startTask() *eventstore.Task {
	l.T.Helper()
	run, task := workspacetest.NewID(l.T), workspacetest.NewID(l.T)
	base, err := l.LastSnapshot(l.Within())
	if err != nil {
		l.T.Fatal(err)
	}
	for _, p := range []choir.Payload{
		choir.TaskDispatched{Task: choir.DirectorTask{Version: choir.ContractVersion, TaskID: task, RunID: run, Kind: choir.TaskEditRepo, Instruction: "x"}},
		choir.TaskStarted{Base: base, Attempt: 1},
	} {
		if _, err := l.Events.AppendToRun(l.Within(), choir.RoleControl, workspacetest.NewID(l.T), run, task, p); err != nil {
			l.T.Fatal(err)
		}
	}
	return &eventstore.Task{ID: task, Run: run}
}

// TestAFetchedWorkspaceIsKeptUntilTheLogHasIt has a task at work at the first look, and
// the sandbox end by itself before the next one.
func TestAFetchedWorkspaceIsKeptUntilTheLogHasIt(t *testing.T) {
	l := newLab(t)
	l.startCopied()
	l.Write("x", "1")
	newest, err := l.LastSnapshot(l.Within())
	if err != nil {
		t.Fatal(err)
	}
	l.WriteOutside("y", "of a terminal")
	task := l.startTask()
	l.copyOut()
	l.startCopied()
	if !l.keepsTree() {
		t.Error("a collection may remove what no event leads to")
	}
	l.startCopied()
	if l.on("x") != "1" || l.on("y") != "of a terminal" {
		t.Errorf("it has %q and %q", l.on("x"), l.on("y"))
	}
	l.Record(task)
	if l.keepsTree() {
		t.Error("what is in the log is still kept beside it")
	}
	// Back at the snapshot from before the fetch, the fetched workspace is of the past.
	if _, err := l.RestoreTree(l.Within(), l.Client, newest, guest.RestoreOptions{}); err != nil {
		t.Fatal(err)
	}
	l.Record(task)
	if now, err := l.LastSnapshot(l.Within()); now != newest || err != nil {
		t.Fatalf("the log has %s and not %s, %v", now, newest, err)
	}
	if l.startCopied(); l.on("y") != "" || l.keepsTree() {
		t.Errorf("what was removed is back: %q", l.on("y"))
	}
}

// TestAFetchedWorkspaceIsKeptWhereItCannotBeRead has the first look fail to scan it.
func TestAFetchedWorkspaceIsKeptWhereItCannotBeRead(t *testing.T) {
	l := newLab(t)
	l.startCopied()
	l.Write("x", "1")
	l.WriteOutside("y", "of a terminal")
	l.copyOut()
	if err := l.reconcilerOf(&unreadWorkspace{l.Workspace}).FirstLook(l.Within(), l.Client, false); err != nil {
		t.Fatal(err)
	}
	if !l.keepsTree() {
		t.Error("a collection may remove what no event leads to")
	}
	if l.startCopied(); l.on("y") != "of a terminal" {
		t.Errorf("it has %q", l.on("y"))
	}
}

func TestANoteThatCannotBeReadIsTold(t *testing.T) {
	l := newLab(t)
	if err := os.WriteFile(l.note, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.LayOut(l.Within(), l.Client, false, true); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("got %v", err)
	}
}
