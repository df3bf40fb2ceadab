package tasks

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/guest/guesttest"
	"choiros/internal/snapshot"
)

// inWorktree dispatches a task with a worktree in a project, copies the project as the
// Associate does, and starts the task there.
func (l *lab) inWorktree(repo string) *task {
	l.T.Helper()
	t := l.dispatchTask(choir.DirectorTask{Repo: repo, Worktree: true})
	t.copyProject()
	if reply := must(l.StartCopied(l.Within(), t.TaskID))(l.T); !reply.InWorktree {
		l.T.Fatal("the task does not work in its worktree")
	}
	return t
}

func (t *task) worktree(path string) string {
	return filepath.Join(guesttest.Worktrees(t.Dir), string(t.TaskID), path)
}

func (t *task) copyProject() {
	t.T.Helper()
	t.noError(os.CopyFS(t.worktree("workspace/"+t.Repo), os.DirFS(t.path("workspace/"+t.Repo))))
	// As the real copy does: what is as it was has the time that it had.
	t.noError(filepath.WalkDir(t.path("workspace/"+t.Repo), func(p string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(t.Dir, p)
		if err != nil {
			return err
		}
		return os.Chtimes(t.worktree(rel), info.ModTime(), info.ModTime())
	}))
}

// write writes a file of the task's worktree, of its project.
func (t *task) write(name, content string) {
	t.T.Helper()
	t.call(true, func() { t.noError(os.WriteFile(t.worktree("workspace/"+t.Repo+"/"+name), []byte(content), 0o644)) })
}

// land lands the task, which must not have conflicts.
func (t *task) land() choir.TaskLandReply {
	t.T.Helper()
	reply := must(t.Land(t.Within(), t.TaskID, nil))(t.T)
	if len(reply.Conflicts) > 0 {
		t.T.Fatalf("conflicts at %q", reply.Conflicts)
	}
	return reply
}

// project is a lab with a project of three files.
func project(t *testing.T) *lab {
	l := newLab(t, confined(true))
	l.Write("workspace/app/shared", "1\n2\n3\n4\n5\n6\n7\n8\n")
	l.Write("workspace/app/one", "before\n")
	l.Write("workspace/app/two", "before\n")
	return l
}

// Two tasks with worktrees and one in the project itself work at once; each change comes in as
// that task's own, merged by lines.
func TestTasksOfOneProjectWorkAtOnceInWorktrees(t *testing.T) {
	l := project(t)
	first, second, inPlace := l.inWorktree("app"), l.inWorktree("app"), l.startIn("app")
	first.write("shared", "first\n2\n3\n4\n5\n6\n7\n8\n")
	second.write("shared", "1\n2\n3\n4\n5\n6\n7\nsecond\n")
	second.write("new", "second\n")
	inPlace.call(true, func() { l.WriteOutside("workspace/app/one", "in place\n") })
	l.WantFiles(map[string]string{"workspace/app/shared": "1\n2\n3\n4\n5\n6\n7\n8\n", "workspace/app/one": "in place\n", "workspace/app/two": "before\n"})
	_, err := l.Land(l.Within(), first.TaskID, nil)
	l.wantCode(err, choir.CodeUnavailable) // as long as the other changes the project
	inPlace.answer()
	if !first.land().Moved {
		t.Error("nothing is said of the task in the project")
	}
	_, err = l.Start(l.Within(), l.dispatchIn("app").TaskID, "")
	l.wantCode(err, choir.CodeUnavailable) // the landed task works in the project now
	_, err = l.Land(l.Within(), second.TaskID, nil)
	l.wantCode(err, choir.CodeUnavailable)
	first.answer()
	second.land()
	second.answer()
	l.WantFiles(map[string]string{
		"workspace/app/shared": "first\n2\n3\n4\n5\n6\n7\nsecond\n", "workspace/app/one": "in place\n", "workspace/app/two": "before\n", "workspace/app/new": "second\n",
	})
	l.wrote(nil, map[*task][]string{
		first: {"workspace/app/shared"}, second: {"workspace/app/new", "workspace/app/shared"}, inPlace: {"workspace/app/one"},
	})
	if now := l.root(); now != l.rootAt(l.Head()) {
		t.Error("the log does not have the tree")
	}
}

// What changed at the same lines conflicts; the project stays as it is.
func TestAConflictLeavesTheProjectAsItIs(t *testing.T) {
	l := project(t)
	first, second := l.inWorktree("app"), l.inWorktree("app")
	first.write("one", "first\n")
	second.write("one", "second\n")
	second.write("two", "second\n")
	first.land()
	first.answer()
	before := l.Head()
	reply := must(l.Land(l.Within(), second.TaskID, nil))(t)
	if !slices.Equal(reply.Conflicts, []string{"workspace/app/one"}) || reply.Base != "" {
		t.Errorf("the reply is %+v", reply)
	}
	l.WantFiles(map[string]string{"workspace/app/one": "first\n", "workspace/app/two": "before\n", "workspace/app/shared": "1\n2\n3\n4\n5\n6\n7\n8\n"})
	if l.Head() != before {
		t.Error("a conflict is in the log")
	}
	must(l.Rollback(l.Within(), second.TaskID, nil))(t)
	if b, err := os.ReadFile(second.worktree("workspace/app/two")); err != nil || string(b) != "before\n" {
		t.Errorf("the worktree has %q, %v", b, err)
	}
	second.answer()
}

// The tree that a task is shown is that of the project with its own change.
func TestATaskInAWorktreeIsComparedWithItsBase(t *testing.T) {
	l := project(t)
	of := l.inWorktree("app")
	base := must(l.Log.Task(l.Within(), of.TaskID))(t).Base
	if now := must(l.Compare(l.Within(), of.TaskID))(t); now.Snapshot != base {
		t.Error("nothing changed, and the tree is another")
	}
	of.write("two", "after\n")
	l.WriteOutside("workspace/app/one", "owner\n")
	now := must(l.Compare(l.Within(), of.TaskID))(t)
	changes := must(snapshot.Diff(l.Within(), l.Keeper, base, now.Snapshot))(t)
	if paths := snapshot.FileChanges(changes); len(paths) != 1 || paths[0].Path != "workspace/app/two" {
		t.Errorf("it differs at %+v", paths)
	}
}

// A rollback after the change came in takes it back, and nothing else.
func TestARollbackOfALandedTaskKeepsWhatOthersDid(t *testing.T) {
	l := project(t)
	first, second := l.inWorktree("app"), l.inWorktree("app")
	first.write("shared", "first\n2\n3\n4\n5\n6\n7\n8\n")
	second.write("shared", "1\n2\n3\n4\n5\n6\n7\nsecond\n")
	first.land()
	first.answer()
	second.land()
	must(l.Rollback(l.Within(), second.TaskID, nil))(t)
	second.answer()
	l.WantFiles(map[string]string{"workspace/app/shared": "first\n2\n3\n4\n5\n6\n7\n8\n", "workspace/app/one": "before\n", "workspace/app/two": "before\n"})
}

// broken is a workspace whose next restore fails.
type broken struct {
	Workspace
	fails bool
}

func (b *broken) RestoreTree(ctx context.Context, client *guest.Client, root choir.Digest, opts guest.RestoreOptions) (snapshot.RestoreResult, error) {
	if b.fails {
		b.fails = false
		// It came as far as its first path.
		opts.Only = opts.Only[:1]
		if _, err := b.Workspace.RestoreTree(ctx, client, root, opts); err != nil {
			return snapshot.RestoreResult{}, err
		}
		return snapshot.RestoreResult{}, choir.E("restore", choir.CodeUnavailable, "the power is gone")
	}
	return b.Workspace.RestoreTree(ctx, client, root, opts)
}

// A merge that was cut off is carried out once more, or taken back, by a control plane that
// knows no more than the log.
func TestAMergeThatWasCutOffIsCarriedOutOrTakenBack(t *testing.T) {
	for _, again := range []bool{true, false} {
		t.Run(map[bool]string{true: "carried out", false: "taken back"}[again], func(t *testing.T) {
			l := project(t)
			of := l.inWorktree("app")
			of.write("one", "after\n")
			of.write("two", "after\n")
			_, err := l.changesOf(&broken{l.Workspace, true}).Land(l.Within(), of.TaskID, nil)
			l.wantCode(err, choir.CodeUnavailable)
			l.Changes = l.changesOf(l.Workspace)
			want := map[string]string{"workspace/app/one": "before\n", "workspace/app/two": "before\n", "workspace/app/shared": "1\n2\n3\n4\n5\n6\n7\n8\n"}
			if again {
				of.land()
				want["workspace/app/one"], want["workspace/app/two"] = "after\n", "after\n"
			} else {
				reply := must(l.Start(l.Within(), of.TaskID, ""))(t)
				if !reply.Resumed || reply.InWorktree {
					t.Errorf("the task goes on as %+v", reply)
				}
				must(l.Rollback(l.Within(), of.TaskID, nil))(t)
			}
			of.answer()
			l.WantFiles(want)
			if now := l.root(); now != l.rootAt(l.Head()) {
				t.Error("the log does not have the tree")
			}
		})
	}
}

// A task whose process ended begins anew in a new copy.
func TestATaskBeginsAnewInANewWorktree(t *testing.T) {
	l := project(t)
	of := l.inWorktree("app")
	l.noError(os.WriteFile(of.worktree("workspace/app/one"), []byte("half\n"), 0o644))
	l.noError(os.RemoveAll(of.worktree("")))
	l.Write("workspace/app/two", "owner\n")
	_, err := l.Start(l.Within(), of.TaskID, "")
	l.wantCode(err, choir.CodeInvalid)
	of.copyProject()
	if reply := must(l.StartCopied(l.Within(), of.TaskID))(t); !reply.Resumed || !reply.InWorktree || reply.Attempt != 2 {
		t.Errorf("it begins as %+v", reply)
	}
	of.write("one", "after\n")
	if of.land().Moved {
		t.Error("the project is as it was copied")
	}
	of.answer()
	l.WantFiles(map[string]string{"workspace/app/one": "after\n", "workspace/app/two": "owner\n", "workspace/app/shared": "1\n2\n3\n4\n5\n6\n7\n8\n"})
}

// Where nothing keeps a task in its worktree it works in the project, one task at a time.
func TestWithoutConfinementATaskWithAWorktreeWorksInTheProject(t *testing.T) {
	l := newLab(t, confined(false))
	l.Write("workspace/app/one", "before\n")
	of := l.dispatchTask(choir.DirectorTask{Repo: "app", Worktree: true})
	of.copyProject()
	if reply := must(l.StartCopied(l.Within(), of.TaskID))(t); reply.InWorktree {
		t.Error("the task works in a worktree")
	}
	_, err := l.Start(l.Within(), l.dispatchIn("app").TaskID, "")
	l.wantCode(err, choir.CodeUnavailable)
	_, err = l.Land(l.Within(), of.TaskID, nil)
	l.wantCode(err, choir.CodeInvalid)
}

// A result that the owner must approve is read from the copy, and taken out of the project
// again after it landed.
func TestALandedChangeIsTakenAside(t *testing.T) {
	l := project(t)
	of := l.inWorktree("app")
	of.write("one", "after\n")
	aside := func() (held bool, changed []string) {
		held, err := l.TakeAside(l.Within(), of.TaskID, func(_ context.Context, o Offered) (choir.Payload, bool, error) {
			for _, ch := range snapshot.FileChanges(o.Changes) {
				changed = append(changed, ch.Path)
			}
			return nil, true, nil
		})
		l.noError(err)
		return held, changed
	}
	if _, changed := aside(); !slices.Equal(changed, []string{"workspace/app/one"}) {
		t.Errorf("in the copy it changed %q", changed)
	}
	l.WantFiles(map[string]string{"workspace/app/one": "before\n", "workspace/app/two": "before\n", "workspace/app/shared": "1\n2\n3\n4\n5\n6\n7\n8\n"})
	of.land()
	if _, changed := aside(); !slices.Equal(changed, []string{"workspace/app/one"}) {
		t.Errorf("it changed %q", changed)
	}
	l.WantFiles(map[string]string{"workspace/app/one": "before\n", "workspace/app/two": "before\n", "workspace/app/shared": "1\n2\n3\n4\n5\n6\n7\n8\n"})
}

// What the owner and nobody's programs do to the project meanwhile is theirs, and an owner's
// change at the same place is a conflict.
func TestTheOwnerChangesTheProjectBesideAWorktree(t *testing.T) {
	l := project(t)
	of := l.inWorktree("app")
	of.write("one", "task\n")
	of.write("two", "task\n")
	l.Write("workspace/app/one", "owner\n")
	if reply := must(l.Land(l.Within(), of.TaskID, nil))(t); !slices.Equal(reply.Conflicts, []string{"workspace/app/one"}) {
		t.Errorf("conflicts at %q", reply.Conflicts)
	}
	if reply := must(l.Land(l.Within(), of.TaskID, []string{"workspace/app/one"}))(t); len(reply.Conflicts) > 0 || !reply.Moved {
		t.Errorf("without that path: %+v", reply)
	}
	l.wrote([]string{"workspace/app/one"}, map[*task][]string{of: {"workspace/app/two"}})
	l.WantFiles(map[string]string{"workspace/app/one": "owner\n", "workspace/app/two": "task\n", "workspace/app/shared": "1\n2\n3\n4\n5\n6\n7\n8\n"})
}

// A folder of which all stays behind does not come in either; one that is empty by itself does.
func TestAFolderOfWhatStaysBehindStaysBehind(t *testing.T) {
	l := project(t)
	of := l.inWorktree("app")
	l.noError(os.MkdirAll(of.worktree("workspace/app/out/deep"), 0o755), os.MkdirAll(of.worktree("workspace/app/empty"), 0o755), os.MkdirAll(of.worktree("workspace/app/half"), 0o755))
	for _, name := range []string{"out/deep/it", "half/it", "half/kept"} {
		of.write(name, "x\n")
	}
	must(l.Land(l.Within(), of.TaskID, []string{"workspace/app/out/deep/it", "workspace/app/half/it"}))(t)
	var got []string
	entries, err := os.ReadDir(l.path("workspace/app"))
	l.noError(err)
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if want := []string{"empty", "half", "one", "shared", "two"}; !slices.Equal(got, want) || len(l.Files("workspace/app/half")) != 1 {
		t.Errorf("the project has %q, want %q", got, want)
	}
}
