package tasks

import (
	"slices"
	"sync"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace/workspacetest"
)

// atWork returns a lab with two projects, in each of which a task has begun.
func atWork(t *testing.T) (l *lab, app, web *task) {
	l = newLab(t, confined(true))
	for _, path := range []string{"workspace/app/own", "workspace/web/own", "workspace/docs/own"} {
		l.Write(path, "before\n")
	}
	return l, l.startIn("app"), l.startIn("web")
}

// wrote fails the test unless the log says that the owner and the tasks wrote these paths.
func (l *lab) wrote(owner []string, tasks map[*task][]string) {
	l.T.Helper()
	for of, want := range tasks {
		gotOwner, got := of.writers()
		if !slices.Equal(got, want) {
			l.T.Errorf("the log says that the task of %s wrote %q, want %q", of.Repo, got, want)
		}
		if !slices.Equal(gotOwner, owner) {
			l.T.Errorf("the log says that the owner wrote %q, want %q", gotOwner, owner)
		}
	}
}

func TestOnlyTasksWhoseScopesDoNotOverlapWorkAtOnce(t *testing.T) {
	l, app, web := atWork(t)
	same, whole, docs := l.dispatchIn("app"), l.dispatch(), l.dispatchIn("docs")
	for _, waits := range []*task{same, whole} {
		_, err := l.Start(l.Within(), waits.TaskID, "")
		l.wantCode(err, choir.CodeUnavailable)
	}
	must(l.Start(l.Within(), docs.TaskID, ""))(t)
	docs.answer()
	app.answer()
	_, err := l.Start(l.Within(), whole.TaskID, "")
	l.wantCode(err, choir.CodeUnavailable)
	web.answer()
	must(l.Start(l.Within(), whole.TaskID, ""))(t)
	_, err = l.Start(l.Within(), same.TaskID, "")
	l.wantCode(err, choir.CodeUnavailable)
}

// Where nothing keeps a task in its project, one task works at a time.
func TestTasksThatAreNotConfinedDoNotWorkAtOnce(t *testing.T) {
	l := newLab(t, confined(false))
	l.startIn("app")
	_, err := l.Start(l.Within(), l.dispatchIn("web").TaskID, "")
	l.wantCode(err, choir.CodeUnavailable)
}

// Whoever's look finds a change, it is that of the task whose scope holds it; what lies in
// none is the owner's, and only the owner's after a terminal was used.
func TestChangesOfTwoTasksAtWorkAreEachTheirOwn(t *testing.T) {
	l, app, web := atWork(t)
	app.call(true, func() {
		l.WriteOutside("workspace/app/own", "app\n")
		l.WriteOutside("workspace/web/seen-by-app", "web\n")
		l.WriteOutside("workspace/docs/seen-by-app", "owner\n")
	})
	l.WriteOutside("workspace/web/between", "web\n")
	l.TerminalUsed()
	app.call(true, func() {}) // the look before it finds what a terminal did
	l.WriteOutside("workspace/app/seen-by-owner", "app\n")
	l.WriteOutside("workspace/web/seen-by-owner", "web\n")
	l.Write("workspace/docs/own", "owner\n") // an edit of the owner looks at its folder
	l.noError(l.RecordNow(l.Within()))
	web.call(true, func() {
		l.WriteOutside("workspace/web/own", "web\n")
		l.WriteOutside("workspace/app/seen-by-web", "app\n")
	})
	l.wrote([]string{"workspace/docs/own", "workspace/docs/seen-by-app"}, map[*task][]string{
		app: {"workspace/app/own", "workspace/app/seen-by-owner", "workspace/app/seen-by-web"},
		web: {"workspace/web/between", "workspace/web/own", "workspace/web/seen-by-app", "workspace/web/seen-by-owner"},
	})
	// The snapshot of a look that no task asked for is nobody's, and no task's call caused
	// what another task did.
	for _, e := range l.All(choir.TypeFileWritten) {
		if e.Cause != "" && e.Task != app.TaskID && e.Task != web.TaskID {
			t.Errorf("event %d of task %q has a cause", e.Seq, e.Task)
		}
	}
}

// A rollback takes back its own task's changes, seen or not, and leaves those of the other
// task, which ends with its own result.
func TestARollbackLeavesTheTaskBesideIt(t *testing.T) {
	l, app, web := atWork(t)
	app.call(true, func() {
		l.WriteOutside("workspace/app/own", "app\n")
		l.WriteOutside("workspace/web/own", "web\n")
	})
	l.WriteOutside("workspace/app/new", "app\n")
	l.WriteOutside("workspace/web/new", "web\n")
	must(l.Rollback(l.Within(), app.TaskID, nil))(t)
	app.answer()
	want := map[string]string{"workspace/app/own": "before\n", "workspace/web/own": "web\n", "workspace/web/new": "web\n", "workspace/docs/own": "before\n"}
	l.WantFiles(want)
	// What the other one's base has of the first goes back with nobody.
	must(l.Rollback(l.Within(), web.TaskID, nil))(t)
	want["workspace/web/own"] = "before\n"
	delete(want, "workspace/web/new")
	l.WantFiles(want)
	if now := l.root(); now != l.rootAt(l.Head()) {
		t.Error("the log does not have the tree")
	}
}

// The base of a task that begins beside another holds half of that one's changes. They
// come back with neither, also on a kernel that confines nothing any more.
func TestABaseWithHalfAnotherTaskIsNotPutBack(t *testing.T) {
	for _, still := range []bool{true, false} {
		t.Run(map[bool]string{true: "confined", false: "not any more"}[still], func(t *testing.T) {
			confines := true
			l := newLab(t, confinedIf(&confines))
			l.Write("workspace/app/own", "before\n")
			l.Write("workspace/web/own", "before\n")
			app := l.startIn("app")
			app.call(true, func() { l.WriteOutside("workspace/app/own", "half\n") })
			web := l.startIn("web")
			app.call(true, func() { l.WriteOutside("workspace/app/own", "whole\n") })
			web.call(true, func() { l.WriteOutside("workspace/web/own", "web\n") })
			confines = still
			must(l.Start(l.Within(), web.TaskID, ""))(t) // both are taken up again
			must(l.Start(l.Within(), app.TaskID, ""))(t)
			if now := l.root(); now != l.rootAt(l.Head()) {
				t.Error("the log does not have the tree")
			}
			must(l.Rollback(l.Within(), web.TaskID, nil))(t)
			l.WantFiles(map[string]string{"workspace/app/own": "whole\n", "workspace/web/own": "before\n"})
			must(l.Rollback(l.Within(), app.TaskID, nil))(t)
			l.WantFiles(map[string]string{"workspace/app/own": "before\n", "workspace/web/own": "before\n"})
		})
	}
}

// Both tasks call at once, and one is taken back meanwhile; the log and the tree agree.
func TestTwoTasksCallAtOnce(t *testing.T) {
	l, app, web := atWork(t)
	var both sync.WaitGroup
	for _, one := range []*task{app, web} {
		both.Go(func() {
			for range 5 {
				one.call(true, func() { l.WriteOutside("workspace/"+one.Repo+"/"+string(workspacetest.NewID(t)), one.Repo) })
			}
			if one == app {
				must(l.Rollback(l.Within(), app.TaskID, nil))(t)
			}
			one.answer()
		})
	}
	both.Wait()
	if got := l.Files("workspace/web"); len(got) != 6 {
		t.Errorf("the other task's project has %q", got)
	}
	if got := l.Files("workspace/app"); len(got) != 1 {
		t.Errorf("the project of the task that was taken back has %q", got)
	}
	if _, wrote := web.writers(); len(wrote) != 5 {
		t.Errorf("the log says that the other task wrote %q", wrote)
	}
	if now := l.root(); now != l.rootAt(l.Head()) {
		t.Error("the log does not have the tree")
	}
	for _, of := range []*task{app, web} {
		answered := must(l.Log.Task(l.Within(), of.TaskID))(t)
		others := must(WrittenByOthers(l.Within(), l.Log, of.TaskID, answered.StartedSeq, answered.ReturnedSeq))(t)
		for _, path := range others {
			if path[:len("workspace/app")] == "workspace/"+of.Repo {
				t.Errorf("%s is said to be another's", path)
			}
		}
	}
}
