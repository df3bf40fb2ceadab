package tasks

import (
	"maps"
	"os"
	"slices"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/snapshot"
)

func TestARollbackKeepsWhatTheOwnerWrote(t *testing.T) {
	l := newLab(t)
	for _, path := range []string{"a/kept.txt", "a/both.txt", "a/task.txt", "a/over.txt"} {
		l.Write(path, "before\n")
	}
	task := l.start()
	l.WriteOutside("a/both.txt", "task\n")
	l.WriteOutside("a/task.txt", "task\n")
	l.WriteOutside("a/new.txt", "new\n")
	l.remove("a/over.txt")
	for _, path := range []string{"a/kept.txt", "a/both.txt", "a/over.txt", "mine/deep/x.txt"} {
		l.Write(path, "owner\n")
	}
	l.WriteOutside("a/over.txt", "late\n")

	compared := must(l.Compare(l.Within(), task.TaskID))(t)
	if want := []string{"a/kept.txt", "mine", "mine/deep", "mine/deep/x.txt"}; !slices.Equal(compared.Owner, want) || compared.Snapshot != l.root() {
		t.Errorf("the owner alone wrote %q, want %q", compared.Owner, want)
	}
	back := must(l.Rollback(l.Within(), task.TaskID, nil))(t)
	if want := []string{"a/both.txt", "a/over.txt"}; !slices.Equal(back.Conflicts, want) {
		t.Errorf("conflicts %q, want %q", back.Conflicts, want)
	}
	want := map[string]string{"a/kept.txt": "owner\n", "a/both.txt": "owner\n", "a/task.txt": "before\n", "a/over.txt": "owner\n", "mine/deep/x.txt": "owner\n"}
	if got := l.Files(""); !maps.Equal(got, want) {
		t.Errorf("the workspace has %q, want %q", got, want)
	}
	owner, others := task.writers()
	if want := []string{"a/both.txt", "a/kept.txt", "a/over.txt", "mine", "mine/deep", "mine/deep/x.txt"}; !slices.Equal(owner, want) {
		t.Errorf("the log says that the owner wrote %q, want %q", owner, want)
	}
	if want := []string{"a/both.txt", "a/new.txt", "a/over.txt", "a/task.txt"}; !slices.Equal(others, want) {
		t.Errorf("the log says that the task wrote %q, want %q", others, want)
	}
}

func TestARollbackLeavesThePathsThatTheCallerKeeps(t *testing.T) {
	l := newLab(t)
	l.Write("a", "before")
	task := l.start()
	l.WriteOutside("a", "task")
	l.WriteOutside("cache/x", "task")
	must(l.Rollback(l.Within(), task.TaskID, []string{"cache"}))(t)
	if got, want := l.Files(""), map[string]string{"a": "before", "cache/x": "task"}; !maps.Equal(got, want) {
		t.Errorf("the workspace has %q", got)
	}
}

func TestSnapshotsAroundCallsKeepARollbackWhole(t *testing.T) {
	l := newLab(t)
	l.Write("kept", "before")
	before := l.root()
	task := l.start()
	task.call(true, func() { l.WriteOutside("kept", "task"); l.WriteOutside("d/new", "new") })
	l.Write("mine", "owner")
	task.call(true, func() { l.WriteOutside("d/more", "more") })
	// The Associate does not answer: the control plane takes the task back.
	if back, err := l.TakeBack(l.Within(), task.TaskID); err != nil || len(back.Conflicts) > 0 {
		t.Errorf("%+v, %v", back, err)
	}
	if got, want := l.Files(""), map[string]string{"kept": "before", "mine": "owner"}; !maps.Equal(got, want) {
		t.Errorf("the workspace has %q", got)
	}
	l.remove("mine")
	for _, ch := range must(snapshot.Diff(l.Within(), l.Keeper, before, l.root()))(t) {
		if !ch.TimeOnly() {
			t.Errorf("it changed %+v", ch)
		}
	}
}

// TestATaskIsRolledBackAroundWhatNoSnapshotHolds fails a task that put a file in the
// place of a source file that is too large for a snapshot.
func TestATaskIsRolledBackAroundWhatNoSnapshotHolds(t *testing.T) {
	l := newLab(t, func(cfg *workspace.Config) {
		cfg.Hold = snapshot.Limits{FileBytes: 1 << 20, TreeBytes: 1 << 30, Entries: 2000}
	})
	l.Write("p/main.go", "one\n")
	task := l.start()
	l.noError(os.Truncate(l.path("p/main.go"), 4<<20), os.WriteFile(l.path("p/new"), []byte("x"), 0o600))
	must(l.Rollback(l.Within(), task.TaskID, nil))(t)
	if got, want := l.Files("p"), map[string]string{"main.go": "one\n"}; !maps.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if items := must(l.Trash(l.Within()))(t); len(items) != 1 || items[0].From != "p/main.go" {
		t.Errorf("%+v", items)
	}
}

// TestARollbackThatCannotBeDoneSaysSoAndLeavesTheTask has content of the base
// damaged.
func TestARollbackThatCannotBeDoneSaysSoAndLeavesTheTask(t *testing.T) {
	l := newLab(t)
	l.Write("x", "before\n")
	task := l.start()
	l.WriteOutside("x", "task\n")
	if err := l.blobs.Damage(choir.DigestOf([]byte("before\n"))); err != nil {
		t.Fatal(err)
	}
	_, err := l.Rollback(l.Within(), task.TaskID, nil)
	l.wantCode(err, choir.CodeCorrupt)
	if got := l.Files(""); got["x"] != "task\n" {
		t.Errorf("the workspace has %q", got)
	}
	if got := task.snapshots(); !slices.Equal(got, []string{"task_ended"}) || l.rootAt(l.Head()) != l.root() {
		t.Errorf("the log does not have the workspace as it is: %q", got)
	}
}
