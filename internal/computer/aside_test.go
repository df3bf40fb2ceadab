package computer

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/rewind"
	"choiros/internal/computer/workspace"
	"choiros/internal/snapshot"
)

// asideHold is small, so that little is too much for a snapshot.
var asideHold = snapshot.Limits{FileBytes: 1 << 20, TreeBytes: 1 << 30, Entries: 2000}

// rewindTo rewinds as the owner does.
func (l *lab) rewindTo(seq uint64) rewind.Rewound {
	l.t.Helper()
	job := must(l.Rewinder().Start(l.within(), choir.RoleCLI, seq))(l.t)
	return must(job.Result())(l.t)
}

// contents is all of the workspace's own project but for the trash, times of folders
// and files included.
func (l *lab) contents() string {
	l.t.Helper()
	return l.sh(`find workspace -printf '%p %y %m %T@ %s %b\n' | sort; find workspace -type f -size -2000k -print0 | sort -z | xargs -0 sha256sum`)
}

// sameLines fails a test with the lines that only one of two texts has.
func sameLines(t *testing.T, before, after string) {
	t.Helper()
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	for _, line := range was {
		if !slices.Contains(is, line) {
			t.Errorf("it was %s", line)
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			t.Errorf("it is  %s", line)
		}
	}
}

// TestWhatIsInTheWayOfARewindIsMovedAside has a file of 8 TB in the place of a source
// file, a flood in a folder with sources, and a large file below what was a file:
// a rewind brings all of it back, and a rewind of the rewind gives back what no
// moment holds, as it was.
func TestWhatIsInTheWayOfARewindIsMovedAside(t *testing.T) {
	l := newLab(t, func(cfg *labConfig) { cfg.Hold = asideHold })
	l.write("workspace/p/main.go", "one\n")
	l.write("workspace/p/src/a.go", "a\n")
	l.write("workspace/p/notes", "text\n")
	then, _ := l.store.Head()
	was := l.sh("cat workspace/p/main.go workspace/p/src/a.go workspace/p/notes; ls workspace/p")
	l.sh("truncate -s 8T workspace/p/main.go || exit 77; printf end >> workspace/p/main.go")
	l.sh("cd workspace/p/src && seq 1 3000 | xargs touch; chmod 500 .")
	l.sh("rm workspace/p/notes; mkdir -p workspace/p/notes/deep; echo kept | tee workspace/p/kept workspace/p/notes/kept > workspace/p/notes/deep/kept; head -c 3000000 /dev/urandom > workspace/p/notes/deep/large; touch -d 2001-02-03 workspace/p/notes/deep/large workspace/p/notes/deep")
	l.sh("truncate -s 1T workspace/p/beside")
	before := l.contents()

	would := must(l.Rewinder().Rewind(l.within(), choir.RoleCLI, then, true))(t)
	if len(would.Aside) != 3 || would.Aside[0].ID != "" || l.contents() != before {
		t.Errorf("a dry run: %+v", would.Aside)
	}
	back := l.rewindTo(then)
	if now := l.sh("cat workspace/p/main.go workspace/p/src/a.go workspace/p/notes; ls workspace/p"); now != strings.Replace(was, "main.go", "beside\nmain.go", 1) {
		t.Errorf("after the rewind: %q, not %q", now, was)
	}
	if len(back.Aside) != 3 || l.root() != back.To {
		t.Errorf("%+v", back.Aside)
	}
	// It is named, with a reason.
	named := map[string]bool{}
	head, _ := l.store.Head()
	for _, p := range must(l.Moments().At(l.within(), head))(t).LeftOver {
		named[p.Path] = true
	}
	inTrash := must(l.Workspace().Trash(l.within()))(t)
	for _, a := range back.Aside {
		if !named[a.Item] || !slices.ContainsFunc(inTrash, func(i workspace.Trashed) bool { return i.ID == a.ID && i.From == a.From }) {
			t.Errorf("%+v is not named in %v, or not in the trash", a, named)
		}
	}
	// Going on and back leaves it there, with its note.
	l.write("workspace/p/other", "1\n")
	l.rewindTo(then)
	if n := len(must(l.Workspace().Trash(l.within()))(t)); n != 3 {
		t.Errorf("%d items in the trash after another rewind", n)
	}
	// The rewind rewound.
	again := l.rewindTo(back.Receipt.Seq - 1)
	sameLines(t, before, l.contents())
	if len(again.Back) != 3 {
		t.Errorf("%+v", again.Back)
	}
	if n := len(must(l.Workspace().Trash(l.within()))(t)); n != 0 || strings.Contains(l.sh("ls -A"), ".trash") {
		t.Errorf("%d items in the trash", n)
	}
}

// TestWhatModesCloseGoesBackToo has files and folders of mode 000, and one of
// another user's, in a workspace.
func TestWhatModesCloseGoesBackToo(t *testing.T) {
	l := newLab(t)
	l.write("workspace/p/main.go", "one\n")
	l.write("workspace/p/d/in", "in\n")
	then, _ := l.store.Head()
	l.sh("echo two > workspace/p/main.go; chmod 000 workspace/p/main.go; echo new > workspace/p/d/in; chmod 000 workspace/p/d")
	foreign := filepath.Join(l.workspaceDir(), "workspace/p/foreign")
	if err := os.WriteFile(foreign, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(foreign, 0); err != nil {
		t.Fatal(err)
	}
	closed := func() string { return l.sh("stat -c '%n %a' workspace/p/main.go workspace/p/d") }
	before := closed()
	back := l.rewindTo(then)
	if out := l.sh("cat workspace/p/main.go workspace/p/d/in"); out != "one\nin\n" {
		t.Errorf("%q", out)
	}
	if os.Geteuid() == 0 && l.cfg.HostUID != 0 && (len(back.Left) != 1 || back.Left[0].Reason != choir.LeftUnreadable) {
		t.Errorf("left %+v", back.Left)
	}
	l.rewindTo(back.Receipt.Seq - 1)
	if after := closed(); after != before {
		t.Errorf("%q, and it was %q", after, before)
	}
	if out := l.sh("chmod 700 workspace/p/d workspace/p/main.go; cat workspace/p/main.go workspace/p/d/in"); out != "two\nnew\n" {
		t.Errorf("%q", out)
	}
}

// watchRemoving tells when the computer first says that it removes something.
func (l *lab) watchRemoving() <-chan struct{} {
	told := make(chan struct{})
	go func() {
		defer close(told)
		for w := l.Workspace().Work(); (w == nil || w.Kind != workspace.WorkRemoving) && l.t.Context().Err() == nil; w = l.Workspace().Work() {
			runtime.Gosched()
		}
	}()
	return told
}

// TestRemovingHoldsNothingUp removes folders 20,000 deep, from the trash and from
// their place, while the owner goes on.
func TestRemovingHoldsNothingUp(t *testing.T) {
	l := newLab(t, func(cfg *labConfig) { cfg.Hold = smallHold })
	l.write("workspace/p/main.go", "one\n")
	l.makeDeep("d", 20_000)
	head, _ := l.store.Head()
	must(l.Workspace().Discard(l.within(), choir.RoleShell, []workspace.Discarding{{Path: "d"}}))(t)
	began := time.Now()
	told := l.watchRemoving()
	promptly(t, "emptying the trash", func() error { return l.Workspace().EmptyTrash(l.within(), choir.RoleShell, "") })
	promptly(t, "a write", func() error {
		_, err := l.Workspace().WriteFile(l.within(), choir.RoleShell, "workspace/p/main.go", strings.NewReader("two\n"), workspace.Expect{})
		return err
	})
	promptly(t, "a rewind", func() error {
		job, err := l.Rewinder().Start(l.within(), choir.RoleCLI, head)
		if err == nil {
			_, err = job.Result()
		}
		return err
	})
	select {
	case <-told:
	case <-time.After(patience):
		t.Error("nobody is told that it is removed")
	}
	for l.sh("ls -A | grep -c choir-removing || true") != "0\n" {
		if time.Since(began) > patience {
			t.Fatal("it is not removed")
		}
	}
	t.Logf("it was removed after %s", time.Since(began))
	if names := l.sh("ls -A; cat workspace/p/main.go"); strings.Contains(names, "d\n") && slices.Contains(strings.Fields(names), "d") || !strings.HasSuffix(names, "one\n") {
		t.Errorf("%q", names)
	}
	// What a session that was killed left is removed by the next.
	l.sh("mkdir -p .choir-removing/x/y")
	l.stop()
	l = openLab(t, l.cfg)
	for l.sh("ls -A | grep -c choir-removing || true") != "0\n" {
		if time.Since(began) > 2*patience {
			t.Fatal("it is not removed after a restart")
		}
	}
}
