package computer

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/computer/rewind"
	"choiros/internal/computer/rolehost"
	"choiros/internal/computer/workspace"
	"choiros/internal/snapshot"
)

// smallHold is what snapshots of these tests hold, as choir.toml's defaults but smaller.
var smallHold = snapshot.Limits{FileBytes: 64 << 20, TreeBytes: 1 << 30, Entries: 20_000}

// soon is how long what must be answered within two seconds may take on a machine
// that does other things besides.
const soon = 10 * time.Second

// promptly runs one step of a test, which must not take long.
func promptly(t *testing.T, what string, do func() error) {
	t.Helper()
	began := time.Now()
	err := do()
	if took := time.Since(began); err != nil || took > soon {
		t.Errorf("%s took %s: %v", what, took, err)
	} else {
		t.Logf("%s took %s", what, took)
	}
}

// workspaceDir is the workspace as the host sees it.
func (l *lab) workspaceDir() string {
	return filepath.Join(l.cfg.Data, string(l.cfg.Computer), string(choir.RoleAssociate), "workspace")
}

// makeDeep makes folders below each other in the workspace, as its owner.
func (l *lab) makeDeep(name string, depth int) {
	l.t.Helper()
	fd, err := unix.Open(l.workspaceDir(), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	for range depth {
		if err == nil {
			err = unix.Mkdirat(fd, name, 0o755)
		}
		next := -1
		if err == nil {
			next, err = unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		}
		if err == nil && l.cfg.HostUID != 0 {
			err = unix.Fchown(next, l.cfg.HostUID, l.cfg.HostUID)
		}
		unix.Close(fd)
		if fd = next; err != nil {
			l.t.Fatal(err)
		}
	}
	unix.Close(fd)
}

func reasonsOf(paths []choir.LeftPath) map[string]choir.LeftReason {
	out := map[string]choir.LeftReason{}
	for _, p := range paths {
		out[p.Path[:min(len(p.Path), 20)]] = p.Reason
	}
	return out
}

// TestNothingInAWorkspaceHangsTheComputer puts a file of 8 TB without a block, 20,000
// folders below each other and a folder with too many files into a workspace, and
// does everything that an owner does.
func TestNothingInAWorkspaceHangsTheComputer(t *testing.T) {
	l := newLab(t, func(cfg *labConfig) { cfg.Hold = smallHold })
	l.write("workspace/p/main.go", "one\n")
	l.write("workspace/p/other", "one\n")
	then, _ := l.store.Head()
	l.write("workspace/p/main.go", "two\n")
	l.sh("truncate -s 8T workspace/p/a || exit 77")
	l.sh("mkdir workspace/flood; cd workspace/flood; seq 1 25000 | xargs touch")
	l.makeDeep("d", 20_000)
	l.stop()
	began := time.Now()
	l = openLab(t, l.cfg)
	l.guest()
	t.Logf("the start took %s", time.Since(began))
	promptly(t, "a terminal", func() error {
		info, err := l.Roles().Terminals().Open(l.within(), choir.RoleShell, rolehost.NewTerminal{})
		if err == nil {
			err = l.Roles().Terminals().Close(l.within(), choir.RoleShell, info.ID)
		}
		return err
	})
	promptly(t, "a listing", func() error { _, err := l.Workspace().ListFolder(l.within(), "workspace/p", "", 100); return err })
	l.sh("echo three > workspace/p/other")
	promptly(t, "reading a changed file", func() error {
		state, r, err := l.Workspace().OpenFile(l.within(), "workspace/p/other")
		if err != nil {
			return err
		}
		defer r.Close()
		content, err := io.ReadAll(r)
		if string(content) != "three\n" || state.Digest != choir.DigestOf(content) {
			t.Errorf("%q %+v", content, state)
		}
		return err
	})
	promptly(t, "reading the file of 8 TB", func() error {
		_, _, err := l.Workspace().OpenFile(l.within(), "workspace/p/a")
		if choir.CodeOf(err) != choir.CodeTooLarge {
			t.Errorf("got %v", err)
		}
		return nil
	})
	if r := l.result(l.commands(choir.TaskEditRepo, "echo task > workspace/p/task")); r.Status != choir.StatusOK {
		t.Errorf("%s %s", r.Code, r.Summary)
	}
	want := map[string]choir.LeftReason{"workspace/p/a": choir.LeftFileTooLarge, "workspace/flood": choir.LeftTooMany, strings.Repeat("d/", 10): choir.LeftTooDeep}
	head, _ := l.store.Head()
	if got := reasonsOf(must(l.Moments().At(l.within(), head))(t).LeftOver); len(got) != len(want) {
		t.Errorf("the moment leaves out %v", got)
	} else {
		for path, why := range want {
			if got[path] != why {
				t.Errorf("%s is left out as %q", path, got[path])
			}
		}
	}
	var back rewind.Rewound
	promptly(t, "a rewind", func() (err error) {
		job, err := l.Rewinder().Start(l.within(), choir.RoleCLI, then)
		if err == nil {
			back, err = job.Result()
		}
		return err
	})
	if out := l.sh("cat workspace/p/main.go workspace/p/other; ls workspace/p"); out != "one\none\na\nmain.go\nother\n" || len(back.Left) != 3 {
		t.Errorf("%q, left %v", out, reasonsOf(back.Left))
	}
	if l.root() != back.To {
		t.Error("the rewind says another snapshot than there is")
	}
	promptly(t, "throwing the file away", func() error {
		_, err := l.Workspace().Discard(l.within(), choir.RoleShell, []workspace.Discarding{{Path: "workspace/p/a"}})
		if err == nil {
			err = l.Workspace().EmptyTrash(l.within(), choir.RoleShell, "")
		}
		return err
	})
	promptly(t, "throwing the deep folder away", func() error {
		_, err := l.Workspace().Discard(l.within(), choir.RoleShell, []workspace.Discarding{{Path: "d"}})
		return err
	})
	// Each of its folders is removed, which takes a sandbox about a millisecond.
	began = time.Now()
	if err := l.Workspace().EmptyTrash(l.within(), choir.RoleShell, ""); err != nil {
		t.Error(err)
	}
	t.Logf("emptying the trash took %s", time.Since(began))
	promptly(t, "deleting the flood", func() error {
		_, err := l.Workspace().RemoveFile(l.within(), choir.RoleShell, "workspace/flood", workspace.Expect{})
		return err
	})
	if names := l.sh("ls; ls workspace"); strings.Contains(names, "flood") || slices.Contains(strings.Fields(names), "d") {
		t.Errorf("%s", names)
	}
	for _, e := range must(l.store.EventsAfter(l.within(), 0, 0))(t) {
		if len(e.Payload) > 64<<10 {
			t.Errorf("event %d, %s, has %d bytes", e.Seq, e.Type, len(e.Payload))
		}
	}
}

// TestAStartIsUpBeforeItHasLooked opens a computer whose first look cannot end for a
// while: terminals and listings are there, and a task waits.
func TestAStartIsUpBeforeItHasLooked(t *testing.T) {
	l := newLab(t, func(cfg *labConfig) { cfg.Start, cfg.Scan = time.Millisecond, 15*time.Second })
	l.write("workspace/f", "one\n")
	l.stop()
	big := filepath.Join(l.workspaceDir(), "large")
	if err := os.WriteFile(big, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 1<<40); err != nil {
		t.Skipf("this file system holds no file of 1 TB: %v", err)
	}
	l = openLab(t, l.cfg)
	l.guest()
	promptly(t, "a terminal", func() error {
		_, err := l.Roles().Terminals().Open(l.within(), choir.RoleShell, rolehost.NewTerminal{})
		return err
	})
	promptly(t, "a listing", func() error { _, err := l.Workspace().ListFolder(l.within(), "workspace", "", 100); return err })
	if w := l.Workspace().Work(); w == nil || w.Kind != workspace.WorkLooking {
		t.Errorf("it is at %+v", w)
	}
	// A rewind is accepted and can be stopped.
	head, _ := l.store.Head()
	job := must(l.Rewinder().Start(l.within(), choir.RoleCLI, head))(t)
	if _, err := l.Rewinder().Start(l.within(), choir.RoleCLI, head); choir.CodeOf(err) != choir.CodeBusy {
		t.Errorf("a second rewind: %v", err)
	}
	promptly(t, "stopping the rewind", func() error { return l.Rewinder().Cancel(l.within()) })
	if _, err := job.Result(); err == nil {
		t.Error("the rewind was not stopped")
	}
	task := l.commands(choir.TaskEditRepo, "true")
	l.sh("rm large") // the look ends in its time
	if r := l.result(task); r.Status != choir.StatusOK {
		t.Errorf("%s %s", r.Code, r.Summary)
	}
}

// TestATaskFailsWhereTheWorkspaceCannotBeRead has a workspace that is not read in
// time.
func TestATaskFailsWhereTheWorkspaceCannotBeRead(t *testing.T) {
	l := newLab(t, func(cfg *labConfig) { cfg.Scan = 2 * time.Second })
	l.write("workspace/f", "one\n")
	l.sh("truncate -s 1T large")
	task := l.commands(choir.TaskEditRepo, "true")
	if r := l.result(task); r.Status != choir.StatusFailed || r.Code != choir.ResultLimit || !strings.Contains(r.Summary, "could not be read within") {
		t.Errorf("%s %s %s", r.Status, r.Code, r.Summary)
	}
	l.sh("rm large")
}
