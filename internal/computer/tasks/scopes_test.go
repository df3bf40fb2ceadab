package tasks

import (
	"maps"
	"os"
	"slices"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
)

// confined makes a workspace whose sandbox keeps tasks in their projects, or not.
func confined(yes bool) func(*workspace.Config) { return confinedIf(&yes) }

// confinedIf is confined with an answer that changes.
func confinedIf(yes *bool) func(*workspace.Config) {
	return func(cfg *workspace.Config) { cfg.Confines = func() bool { return *yes } }
}

// Whatever changes outside of a task's project while it works is not the task's, whether
// it was seen at a call, at the commit or not yet; and the rollback leaves it. Where
// nothing keeps a task in its project, all of it is the task's.
func TestChangesBelongToTheScopeThatHoldsThem(t *testing.T) {
	for _, yes := range []bool{true, false} {
		t.Run(map[bool]string{true: "confined", false: "not confined"}[yes], func(t *testing.T) {
			l := newLab(t, confined(yes))
			before := map[string]string{"workspace/app/own": "before\n", "workspace/app/moved": "moved\n", "workspace/other/file": "before\n", "workspace/apple": "before\n"}
			for path, content := range before {
				l.Write(path, content)
			}
			task := l.startIn("app")
			task.call(true, func() {
				l.WriteOutside("workspace/app/own", "task\n")
				l.WriteOutside("workspace/other/seen", "meanwhile\n")
			})
			l.WriteOutside("workspace/apple", "meanwhile\n")
			must(l.CommitCommand(l.Within(), task.TaskID))(t)
			l.noError(os.Rename(l.path("workspace/app/moved"), l.path("workspace/other/moved")))
			l.WriteOutside("workspace/other/file", "meanwhile\n") // nobody looked yet
			must(l.Rollback(l.Within(), task.TaskID, nil))(t)

			inside := []string{"workspace/app/moved", "workspace/app/own"}
			outside := []string{"workspace/apple", "workspace/other/file", "workspace/other/moved", "workspace/other/seen"}
			want := maps.Clone(before)
			owner, others := task.writers()
			if yes {
				want["workspace/apple"], want["workspace/other/file"] = "meanwhile\n", "meanwhile\n"
				want["workspace/other/seen"], want["workspace/other/moved"] = "meanwhile\n", "moved\n"
				others = without(others, "workspace/app/moved") // it was back before anybody looked
				inside = without(inside, "workspace/app/moved")
			} else {
				outside = nil
				others = without(others, "workspace/app/moved", "workspace/other/moved", "workspace/other/file")
				inside = []string{"workspace/app/own", "workspace/apple", "workspace/other/seen"}
			}
			if got := l.Files(""); !maps.Equal(got, want) {
				t.Errorf("the workspace has %q, want %q", got, want)
			}
			if !slices.Equal(owner, outside) || !slices.Equal(others, inside) {
				t.Errorf("the log says that the owner wrote %q and the task %q, want %q and %q", owner, others, outside, inside)
			}
		})
	}
}

func without(paths []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return slices.Contains(some, p) })
}

// A change of modes needs no right that Landlock could withhold, so nobody is known to
// have made one outside of the scope: the log does not say that the owner did.
func TestModesChangedOutsideOfAScopeAreNobodys(t *testing.T) {
	l := newLab(t, confined(true))
	l.Write("workspace/app/own", "x\n")
	l.Write("workspace/other/file", "x\n")
	task := l.startIn("app")
	task.call(true, func() {
		l.noError(os.Chmod(l.path("workspace/app/own"), 0o700), os.Chmod(l.path("workspace/other/file"), 0o700))
	})
	owner, others := task.writers()
	if len(owner) > 0 || !slices.Equal(others, []string{"workspace/app/own"}) {
		t.Errorf("the log says that the owner wrote %q and the task %q", owner, others)
	}
	var nobodys int
	for _, e := range l.All(choir.TypeFileWritten) {
		if e.Source == choir.SourceSystem && e.Task == "" {
			nobodys++
		}
	}
	if nobodys != 1 {
		t.Errorf("%d changes are nobody's, want the mode in the other project", nobodys)
	}
}

// After a restart of choir the scope of a task at work follows from the log.
func TestTheScopeOfATaskFollowsFromTheLog(t *testing.T) {
	l := newLab(t, confined(true))
	l.Write("workspace/app/own", "x\n")
	task := l.startIn("app")
	task.Changes = l.changesOf(l.Workspace)
	task.call(true, func() {
		l.WriteOutside("workspace/app/own", "task\n")
		l.WriteOutside("workspace/other", "owner\n")
	})
	if owner, others := task.writers(); !slices.Equal(owner, []string{"workspace/other"}) || !slices.Equal(others, []string{"workspace/app/own"}) {
		t.Errorf("the log says that the owner wrote %q and the task %q", owner, others)
	}
}
