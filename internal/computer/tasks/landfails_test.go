package tasks

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/workspace/workspacetest"
)

// untouched is the project of the lab as it is before a task lands.
var untouched = map[string]string{"workspace/app/one": "before\n", "workspace/app/two": "before\n", "workspace/app/shared": "1\n2\n3\n4\n5\n6\n7\n8\n"}

// TestAChoirKilledAtAnyStepOfAMergeLosesNothing kills choir at each step of the merge of a task's
// copy in turn; the next one carries it out, or takes it back.
func TestAChoirKilledAtAnyStepOfAMergeLosesNothing(t *testing.T) {
	for _, back := range []bool{false, true} {
		t.Run(map[bool]string{false: "carried out", true: "taken back"}[back], func(t *testing.T) {
			t.Parallel()
			steps := 0
			for done := false; !done && steps < 100; steps++ {
				l := makeLab(t, confined(true))
				for path, content := range untouched {
					l.Write(path, content)
				}
				of := l.inWorktree("app")
				of.write("one", "after\n")
				of.write("two", "after\n")
				l.Write("workspace/app/shared", "owner\n2\n3\n4\n5\n6\n7\n8\n")
				k := &killed{l.Workspace, l.Log, steps}
				events := appender.New(k, l.Computer, func() (choir.ID, error) { return workspacetest.NewID(t), nil }, slog.New(slog.DiscardHandler))
				dying := New(l.Computer, l.Data, l.Log, events, l.Keeper, k, workspacetest.Awake{Client: l.Client}, &l.rules, slog.New(slog.DiscardHandler))
				_, err := dying.Land(l.Within(), of.TaskID, nil)
				done = err == nil
				want := map[string]string{"workspace/app/one": "before\n", "workspace/app/two": "before\n", "workspace/app/shared": "owner\n2\n3\n4\n5\n6\n7\n8\n"}
				if back {
					must(l.Rollback(l.Within(), of.TaskID, nil))(t)
				} else {
					if !done {
						of.land()
					}
					want["workspace/app/one"], want["workspace/app/two"] = "after\n", "after\n"
				}
				of.answer()
				l.WantFiles(want)
				if l.root() != l.rootAt(l.Head()) {
					t.Errorf("killed at step %d the log does not have the tree", steps)
				}
				if t.Failed() {
					t.Fatalf("killed at step %d: %v", steps, err)
				}
			}
			t.Logf("killed at %d steps", steps-1)
		})
	}
}

// TestAMergeOnAFullDiskIsCarriedOutOnceThereIsRoom merges more than the disk of the workspace has
// room for, and takes another such merge back while it is full.
func TestAMergeOnAFullDiskIsCarriedOutOnceThereIsRoom(t *testing.T) {
	for _, back := range []bool{false, true} {
		t.Run(map[bool]string{false: "carried out", true: "taken back"}[back], func(t *testing.T) {
			l := newLab(t, confined(true))
			err := unix.Mount("tmpfs", l.Dir, "tmpfs", 0, "size=256k")
			if errors.Is(err, fs.ErrPermission) {
				t.Skip("only root can mount a small disk")
			}
			l.noError(err)
			t.Cleanup(func() { l.noError(unix.Unmount(l.Dir, unix.MNT_DETACH)) })
			for path, content := range untouched {
				l.Write(path, content)
			}
			of := l.inWorktree("app")
			big := string(bytes.Repeat([]byte("x"), 400<<10))
			of.write("one", big)
			of.write("two", "after\n")
			_, err = l.Land(l.Within(), of.TaskID, nil)
			l.wantCode(err, choir.CodeNoSpace)
			if raw, err := os.ReadFile(of.worktree("workspace/app/one")); err != nil || string(raw) != big {
				t.Errorf("the copy has %d bytes: %v", len(raw), err)
			}
			want := map[string]string{"workspace/app/one": big, "workspace/app/two": "after\n", "workspace/app/shared": untouched["workspace/app/shared"]}
			if back {
				want = untouched
				must(l.Rollback(l.Within(), of.TaskID, nil))(t)
			} else {
				l.noError(unix.Mount("tmpfs", l.Dir, "tmpfs", unix.MS_REMOUNT, "size=4m"))
				of.land()
			}
			of.answer()
			l.WantFiles(want)
			if l.root() != l.rootAt(l.Head()) {
				t.Error("the log does not have the tree")
			}
		})
	}
}
