package tasks

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"choiros/internal/blob/mem"
	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/computer/workspace/workspacetest"
	"choiros/internal/snapshot"
)

// lab is the tasks of a workspace of which nothing else runs: the test is owner and
// Associate.
type lab struct {
	*workspacetest.Lab
	*Changes
	blobs *mem.Store
	rules rules
}

// rules are those of a policy that holds what tasks write at one path.
type rules struct{ path string }

func (r *rules) Concern(*choir.DirectorTask) bool { return r.path != "" }

func (r *rules) Demand(_ context.Context, o Offered) (bool, error) {
	return slices.ContainsFunc(o.Changes, func(ch snapshot.Change) bool { return ch.Path == r.path }), nil
}

func newLab(t *testing.T, change ...func(*workspace.Config)) *lab {
	t.Helper()
	t.Parallel()
	return makeLab(t, change...)
}

// makeLab makes a lab for one of the steps of a test.
func makeLab(t *testing.T, change ...func(*workspace.Config)) *lab {
	t.Helper()
	blobs := mem.New(mem.Config{})
	l := &lab{Lab: workspacetest.New(t, blobs, change...), blobs: blobs}
	l.Changes = l.changesOf(l.Workspace)
	return l
}

// changesOf is the tasks of the lab in a workspace.
func (l *lab) changesOf(w Workspace) *Changes {
	return New(l.Computer, l.Data, l.Log, l.Events, l.Keeper, w, workspacetest.Awake{Client: l.Client}, &l.rules, slog.New(slog.DiscardHandler))
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

// task is one task of the lab.
type task struct {
	*lab
	choir.DirectorTask
}

// dispatch dispatches a task of a run of its own, in the whole workspace.
func (l *lab) dispatch() *task { return l.dispatchIn("") }

// dispatchIn dispatches a task of a run of its own, in a project.
func (l *lab) dispatchIn(repo string) *task {
	l.T.Helper()
	return l.dispatchTask(choir.DirectorTask{Repo: repo})
}

// dispatchTask dispatches a task of a run of its own.
func (l *lab) dispatchTask(of choir.DirectorTask) *task {
	l.T.Helper()
	of.Version, of.TaskID, of.Kind, of.Instruction = choir.ContractVersion, workspacetest.NewID(l.T), choir.TaskEditRepo, "x"
	t := &task{lab: l, DirectorTask: of}
	t.RunID = choir.DeriveID(t.TaskID, "run")
	must(l.Events.AppendToRun(l.Within(), choir.RoleCLI, workspacetest.NewID(l.T), t.RunID, t.TaskID, choir.TaskDispatched{Task: t.DirectorTask}))(l.T)
	return t
}

// start dispatches a task and starts it.
func (l *lab) start() *task {
	l.T.Helper()
	t := l.dispatch()
	must(l.Start(l.Within(), t.TaskID, ""))(l.T)
	return t
}

// startIn dispatches a task in a project and starts it.
func (l *lab) startIn(repo string) *task {
	l.T.Helper()
	t := l.dispatchIn(repo)
	must(l.Start(l.Within(), t.TaskID, ""))(l.T)
	return t
}

// answer answers the task, as the Associate does.
func (t *task) answer() {
	t.T.Helper()
	t.appendEvent(choir.TaskReturned{Result: choir.AssociateResult{
		Version: choir.ContractVersion, TaskID: t.TaskID, RunID: t.RunID, Status: choir.StatusOK, Summary: "done",
		FilesChanged: []choir.FileChange{}, CommandsRun: []choir.CommandRun{}, Artifacts: []choir.BlobRef{}, Questions: []choir.Question{},
		Verify: choir.VerifyOutcome{Mode: choir.VerifyNone, Status: choir.VerifyUnknown},
	}})
}

// appendEvent appends an event of the task as the Associate does, with what changed before it. It
// returns the event's number.
func (t *task) appendEvent(p choir.Payload) uint64 {
	t.T.Helper()
	d := must(t.Events.Draft(p))(t.T).ForRun(t.RunID, t.TaskID)
	return t.append(d)
}

func (t *task) append(d choir.Draft) uint64 {
	t.T.Helper()
	if err := t.RecordAround(t.Within(), []choir.Draft{d}); err != nil {
		t.T.Fatal(err)
	}
	return must(t.Log.Append(t.Within(), choir.RoleAssociate, d))(t.T)[0].Seq
}

// call makes one tool call. It returns the numbers of its two events.
func (t *task) call(writes bool, effect func()) (called, returned uint64) {
	t.T.Helper()
	id := workspacetest.NewID(t.T)
	called = t.appendEvent(choir.ToolCalled{Call: id, Tool: "bash", Writes: writes, Input: choir.ToolInput{Command: "x"}})
	effect()
	d := must(t.Events.Draft(choir.ToolReturned{Call: id, OK: true}))(t.T).ForRun(t.RunID, t.TaskID)
	returned = t.append(d)
	if again := t.append(d); again != returned {
		t.T.Errorf("sent again it is event %d, it was %d", again, returned)
	}
	return called, returned
}

// remove removes a path of the tree as a program in the sandbox would.
func (l *lab) remove(path string) {
	l.T.Helper()
	if err := os.RemoveAll(filepath.Join(l.Dir, path)); err != nil {
		l.T.Fatal(err)
	}
}

// noError ends the test at an error.
func (l *lab) noError(errs ...error) {
	l.T.Helper()
	if err := errors.Join(errs...); err != nil {
		l.T.Fatal(err)
	}
}

// path is where a path of the tree lies on the host.
func (l *lab) path(path string) string { return filepath.Join(l.Dir, path) }

// root is the tree as it is, by hash.
func (l *lab) root() choir.Digest {
	l.T.Helper()
	return must(l.Client.Scan(l.Within(), l.Keeper))(l.T).Root
}

// rootAt is the tree after an event, as the log has it.
func (l *lab) rootAt(seq uint64) choir.Digest {
	l.T.Helper()
	taken, _, err := l.Log.SnapshotAt(l.Within(), seq)
	if err != nil {
		l.T.Fatal(err)
	}
	return taken.Snapshot
}

// snapshots are the reasons of a task's snapshots, in order.
func (t *task) snapshots() (reasons []string) {
	t.T.Helper()
	for _, e := range t.All(choir.TypeSnapshotTaken) {
		if e.Task == t.TaskID {
			reasons = append(reasons, must(choir.ReadPayload(e.Type, e.Payload))(t.T).(*choir.SnapshotTaken).Reason)
		}
	}
	return reasons
}

// writers are the paths in the file events after the task's start: the owner's and the
// task's.
func (t *task) writers() (owner, task []string) {
	t.T.Helper()
	started := t.All(choir.TypeTaskStarted)[0].Seq
	for _, e := range append(t.All(choir.TypeFileWritten), t.All(choir.TypeFileRemoved)...) {
		if e.Seq < started {
			continue
		}
		var paths []string
		switch p := must(choir.ReadPayload(e.Type, e.Payload))(t.T).(type) {
		case *choir.FileWritten:
			for _, f := range p.Files {
				paths = append(paths, f.Path)
			}
		case *choir.FileRemoved:
			paths = p.Paths
		}
		if e.Source == choir.SourceUser {
			owner = append(owner, paths...)
		} else if e.Task == t.TaskID {
			task = append(task, paths...)
		}
	}
	slices.Sort(owner)
	slices.Sort(task)
	return slices.Compact(owner), slices.Compact(task)
}

// wantCode fails the test when an error has another code.
func (l *lab) wantCode(err error, want choir.Code) {
	l.T.Helper()
	if choir.CodeOf(err) != want {
		l.T.Errorf("%v, want the code %q", err, want)
	}
}
