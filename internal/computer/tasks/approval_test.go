package tasks

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// guarded is a lab with the project app, whose results wait that change the file one.
func guarded(t *testing.T) *lab {
	t.Helper()
	l := project(t)
	l.rules.path = "workspace/app/one"
	for path, content := range map[string]string{"HEAD": "ref: refs/heads/main\n", "refs/heads/main": "first\n", "objects/aa/bb": "1"} {
		l.WriteOutside("workspace/app/.git/"+path, content)
	}
	l.noError(l.RecordNow(l.Within()))
	return l
}

// aside dispatches a task and starts it in a whole copy, as the Associate does.
func (l *lab) aside(of choir.DirectorTask) *task {
	l.T.Helper()
	t := l.dispatchTask(of)
	if reply := must(l.Start(l.Within(), t.TaskID, ""))(l.T); !reply.Aside || reply.InWorktree {
		l.T.Fatalf("the task begins as %+v", reply)
	}
	t.copyAside()
	if reply := must(l.StartCopied(l.Within(), t.TaskID))(l.T); !reply.InWorktree || reply.Aside {
		l.T.Fatalf("with a copy it begins as %+v", reply)
	}
	return t
}

// copyAside copies the project with a repository that finds its objects in the other.
func (t *task) copyAside() {
	t.T.Helper()
	t.copyProject()
	objects := t.worktree("workspace/" + t.Repo + "/.git/objects")
	t.noError(os.RemoveAll(objects), os.MkdirAll(objects+"/info", 0o700), os.WriteFile(objects+"/info/alternates", []byte("x\n"), 0o600))
}

// commit does in the copy what a commit does: an object and a branch.
func (t *task) commit(id string) {
	t.T.Helper()
	t.noError(os.MkdirAll(t.worktree("workspace/app/.git/objects/cc"), 0o700))
	t.write(".git/objects/cc/"+id, id)
	t.write(".git/refs/heads/main", id+"\n")
}

// offered returns the paths of files that the task offers, or fails.
func (t *task) offers() (o Offered, paths []string) {
	t.T.Helper()
	_, err := t.TakeAside(t.Within(), t.TaskID, func(_ context.Context, got Offered) (choir.Payload, bool, error) {
		o = got
		return nil, false, nil
	})
	t.noError(err)
	for _, ch := range snapshot.FileChanges(o.Changes) {
		paths = append(paths, ch.Path)
	}
	slices.Sort(paths)
	return o, paths
}

// Nothing of a task that a rule is about is in the workspace, and what it offers is its change
// with its commit.
func TestAResultThatWaitsIsReadFromTheCopy(t *testing.T) {
	l := guarded(t)
	before := l.Files("")
	of := l.aside(choir.DirectorTask{Repo: "app"})
	of.write("one", "after\n")
	if reply := must(l.Land(l.Within(), of.TaskID, nil))(t); !reply.Aside || reply.Moved {
		t.Errorf("it lands as %+v", reply)
	}
	of.commit("second")
	if reply := must(l.LandCommitted(l.Within(), of.TaskID))(t); !reply.Aside || reply.Snapshot != "" {
		t.Errorf("committed it lands as %+v", reply)
	}
	l.WantFiles(before)
	o, paths := of.offers()
	if want := []string{"workspace/app/.git/objects/cc/second", "workspace/app/.git/refs/heads/main", "workspace/app/one"}; !slices.Equal(paths, want) {
		t.Errorf("it offers %q, want %q", paths, want)
	}
	if o.Task.Base != l.rootAt(l.Head()) {
		t.Error("its base is not the workspace as it is")
	}
	for path, want := range map[string]bool{"workspace/app/one": true, "workspace/app/.git/objects/aa/bb": true, "workspace/app/.git/objects/info/alternates": false} {
		if e := must(l.Lookup(l.Within(), o.Snapshot, path))(t); (e != nil) != want {
			t.Errorf("%s is in the snapshot: %v", path, e)
		}
	}
}

// A result that no rule is about comes in exactly, once, whatever is cut off.
func TestAResultWithoutARuleComesInAsItIsInTheCopy(t *testing.T) {
	l := guarded(t)
	of := l.aside(choir.DirectorTask{Repo: "app"})
	of.write("two", "after\n")
	of.write("new", "new\n")
	must(l.Land(l.Within(), of.TaskID, nil))(t)
	of.commit("second")
	want := l.Files("")
	want["workspace/app/two"], want["workspace/app/new"] = "after\n", "new\n"
	want["workspace/app/.git/objects/cc/second"], want["workspace/app/.git/refs/heads/main"] = "second", "second\n"
	for range 2 { // the second time is after an answer that got lost
		if reply := must(l.LandCommitted(l.Within(), of.TaskID))(t); reply.Aside || reply.Moved || reply.Snapshot != l.root() {
			t.Errorf("committed it lands as %+v", reply)
		}
		l.WantFiles(want)
		l.remove("workspace/app/new") // as if it had been cut off
	}
	must(l.LandCommitted(l.Within(), of.TaskID))(t)
	l.WantFiles(want)
	l.wrote(nil, map[*task][]string{of: {"workspace/app/new", "workspace/app/two"}})
	must(l.Rollback(l.Within(), of.TaskID, nil))(t)
	if l.Files("")["workspace/app/.git/refs/heads/main"] != "first\n" {
		t.Error("a rollback leaves the commit")
	}
}

// A project that moved on is merged into the copy, its repository too, and commits there are made anew.
func TestAProjectThatMovedOnIsMergedIntoTheCopy(t *testing.T) {
	l := guarded(t)
	of := l.aside(choir.DirectorTask{Repo: "app"})
	of.write("one", "after\n")
	of.write("shared", "1\n2\n3\n4\n5\n6\n7\ntask\n")
	must(l.Land(l.Within(), of.TaskID, nil))(t)
	of.commit("second")
	l.Write("workspace/app/shared", "owner\n2\n3\n4\n5\n6\n7\n8\n")
	l.WriteOutside("workspace/app/.git/refs/heads/main", "owner\n")
	before := l.Files("")
	if reply := must(l.LandCommitted(l.Within(), of.TaskID))(t); !reply.Aside || !reply.Moved || reply.Base != l.root() {
		t.Errorf("committed it lands as %+v", reply)
	}
	l.WantFiles(before)
	for path, want := range map[string]string{"shared": "owner\n2\n3\n4\n5\n6\n7\ntask\n", "one": "after\n", ".git/refs/heads/main": "owner\n", ".git/objects/cc/second": "", ".git/objects/info/alternates": "x\n"} {
		got, err := os.ReadFile(of.worktree("workspace/app/" + path))
		if string(got) != want || (want == "") != (err != nil) {
			t.Errorf("the copy has %q at %s, %v", got, path, err)
		}
	}
	of.commit("third")
	if reply := must(l.LandCommitted(l.Within(), of.TaskID))(t); !reply.Aside || reply.Moved {
		t.Errorf("again it lands as %+v", reply)
	}
	_, paths := of.offers()
	if want := []string{"workspace/app/.git/objects/cc/third", "workspace/app/.git/refs/heads/main", "workspace/app/one", "workspace/app/shared"}; !slices.Equal(paths, want) {
		t.Errorf("it offers %q, want %q", paths, want)
	}
	// The same lines are a conflict, and nothing is another.
	l.Write("workspace/app/one", "owner\n")
	reply := must(l.LandCommitted(l.Within(), of.TaskID))(t)
	if !slices.Equal(reply.Conflicts, []string{"workspace/app/one"}) {
		t.Errorf("it lands as %+v", reply)
	}
	if got, err := os.ReadFile(of.worktree("workspace/app/one")); string(got) != "after\n" {
		t.Errorf("the copy has %q, %v", got, err)
	}
	must(l.Rollback(l.Within(), of.TaskID, nil))(t)
	if _, paths := of.offers(); len(paths) > 0 {
		t.Errorf("after a rollback it offers %q", paths)
	}
}

// Which tasks begin in a copy.
func TestWhichTasksBeginAside(t *testing.T) {
	l := guarded(t)
	uncopied := l.dispatchIn("app")
	if reply := must(l.Start(l.Within(), uncopied.TaskID, ""))(t); !reply.Aside {
		t.Errorf("it begins as %+v", reply)
	}
	if reply := must(l.StartUncopied(l.Within(), uncopied.TaskID))(t); reply.Aside || reply.InWorktree || reply.Attempt != 1 {
		t.Errorf("where no copy can be made it begins as %+v", reply)
	}
	if reply := must(l.Start(l.Within(), uncopied.TaskID, ""))(t); reply.Aside || !reply.Resumed {
		t.Errorf("again it begins as %+v", reply)
	}
	uncopied.answer()
	l.rules.path = ""
	if reply := must(l.Start(l.Within(), l.dispatchIn("app").TaskID, ""))(t); reply.Aside {
		t.Errorf("without a rule it begins as %+v", reply)
	}
}

// Where nothing confines a task to its copy it works in the workspace.
func TestWithoutConfinementNoTaskBeginsAside(t *testing.T) {
	loose := newLab(t, confined(false))
	loose.rules.path = "workspace/app/one"
	loose.Write("workspace/app/one", "before\n")
	if reply := must(loose.Start(loose.Within(), loose.dispatchIn("app").TaskID, ""))(t); reply.Aside {
		t.Errorf("where nothing confines it begins as %+v", reply)
	}
}

// An earlier attempt is restored in the copy.
func TestAnAttemptIsRestoredInTheCopy(t *testing.T) {
	l := guarded(t)
	before := l.Files("")
	first := l.aside(choir.DirectorTask{Repo: "app"})
	first.write("one", "tried\n")
	first.fail()
	again := l.goOnFrom(first, "app")
	again.copyAside()
	must(l.StartCopied(l.Within(), again.TaskID))(t)
	if reply := must(l.RestoreAttempt(l.Within(), again.TaskID))(t); reply.Restored == 0 {
		t.Errorf("restored is %+v", reply)
	}
	if got, err := os.ReadFile(filepath.Join(again.worktree("workspace/app"), "one")); string(got) != "tried\n" {
		t.Errorf("the copy has %q, %v", got, err)
	}
	l.WantFiles(before)
}
