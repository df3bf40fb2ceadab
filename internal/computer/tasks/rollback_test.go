package tasks

import (
	"context"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

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
	next := l.dispatch()
	err := l.TakeBack(l.Within(), task.TaskID, func(back choir.TaskRollbackReply) error {
		busy, stop := context.WithTimeout(l.Within(), 10*time.Millisecond)
		defer stop()
		if _, err := l.Start(busy, next.TaskID, ""); err == nil {
			t.Error("a task began before the one that was taken back was answered")
		}
		if len(back.Conflicts) > 0 {
			t.Errorf("%+v", back)
		}
		task.answer()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	l.wantCode(l.TakeBack(l.Within(), task.TaskID, nil), choir.CodeConflict)
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

// lateLock is a workspace in which something happens before each lock of the tree.
type lateLock struct {
	Workspace
	before func()
}

func (w lateLock) Lock(ctx context.Context) (func(), error) {
	w.before()
	return w.Workspace.Lock(ctx)
}

// TestAVerbOfAnAnsweredTaskChangesNothing has a verb wait for the tree until its task is
// answered and the next one works.
func TestAVerbOfAnAnsweredTaskChangesNothing(t *testing.T) {
	for name, verb := range map[string]func(*Changes, context.Context, choir.ID) error{
		"rollback": func(c *Changes, ctx context.Context, id choir.ID) error {
			_, err := c.Rollback(ctx, id, nil)
			return err
		},
		"compare": func(c *Changes, ctx context.Context, id choir.ID) error {
			_, err := c.Compare(ctx, id)
			return err
		},
		"commit": func(c *Changes, ctx context.Context, id choir.ID) error {
			_, err := c.Commit(ctx, id, "task_ended", nil)
			return err
		},
		"command": func(c *Changes, ctx context.Context, id choir.ID) error {
			_, err := c.CommitCommand(ctx, id)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.Write("x", "before")
			task := l.start()
			head := uint64(0)
			late := l.changesOf(lateLock{l.Workspace, func() {
				task.answer()
				l.start().call(true, func() { l.WriteOutside("x", "the next task") })
				head = l.Head()
			}})
			l.wantCode(verb(late, l.Within(), task.TaskID), choir.CodeConflict)
			if got := l.Files("")["x"]; got != "the next task" || l.Head() != head {
				t.Errorf("the workspace has %q; %d events came", got, l.Head()-head)
			}
		})
	}
}

// A task that is taken up again starts from what the log has, not from its base: else the
// log would not tell that the rollback put anything back.
func TestARollbackOfATaskThatIsTakenUpAgainIsTold(t *testing.T) {
	l := newLab(t)
	l.Write("x", "before")
	before := must(l.Log.Files(l.Within(), 0, "x", 1, ""))(t)
	task := l.start()
	task.call(true, func() { l.WriteOutside("x", "task") })
	must(l.Start(l.Within(), task.TaskID, ""))(t)
	if got := l.rootAt(l.Head()); got != l.root() {
		t.Errorf("after the start the log has %s", got)
	}
	must(l.Rollback(l.Within(), task.TaskID, nil))(t)
	if after := must(l.Log.Files(l.Within(), 0, "x", 1, ""))(t); !slices.Equal(after, before) {
		t.Errorf("the log has %+v, it had %+v", after, before)
	}
}
