package computer

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/sandboxtest"
)

// copiesOnly narrows the driver to what one on another machine can do: a workspace that is
// copied in and out, and one stream.
func copiesOnly(c *labConfig) {
	c.wrap = func(d sandbox.Driver) sandbox.Driver {
		return sandboxtest.NarrowDriver(d, sandbox.Capabilities{Transports: []sandbox.Transport{sandbox.TransportCopy}})
	}
}

// notOnTheHost fails the test when the folder of a bound workspace is there.
func (l *lab) notOnTheHost() {
	l.t.Helper()
	if entries, err := os.ReadDir(l.workspaceDir()); !os.IsNotExist(err) {
		l.t.Errorf("the host has the workspace: %v, %v", entries, err)
	}
}

// TestAComputerWithoutAFolderOnTheHost has a task work, the owner write and a program
// that nobody watches write, and goes on with all of it in the next session.
func TestAComputerWithoutAFolderOnTheHost(t *testing.T) {
	l := newLab(t, copiesOnly)
	l.write("workspace/mine", "by the owner\n")
	task := l.commands(choir.TaskEditRepo, "echo by the task > /workspace/workspace/its")
	if got := l.result(task); got.Status != choir.StatusOK {
		t.Fatalf("%+v", got)
	}
	l.sh("echo unseen > workspace/unseen && mkdir -m 750 workspace/empty && ln -s unseen workspace/link")
	l.notOnTheHost()
	const look = "cd workspace && cat mine its unseen link && stat -c '%a %n' empty mine && ls -a"
	before := l.sh(look)
	l.stop()

	again := openLab(t, l.cfg)
	if after := again.sh(look); after != before {
		t.Errorf("it was\n%sand is\n%s", before, after)
	}
	again.notOnTheHost()
	again.write("workspace/mine", "again\n")
	again.stop()
	if got := openLab(t, l.cfg).sh("cat workspace/mine"); got != "again\n" {
		t.Errorf("after the third start: %q", got)
	}
}

// content reads a file as the owner; empty when it is not there.
func (l *lab) content(path string) string {
	l.t.Helper()
	_, r, err := l.Workspace().OpenFile(l.within(), path)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return ""
	}
	if err != nil {
		l.t.Fatal(err)
	}
	defer r.Close()
	return string(must(io.ReadAll(r))(l.t))
}

// unrecorded writes a file as a program inside does, of which no moment is taken.
func (l *lab) unrecorded(path, content string) {
	l.t.Helper()
	must(l.guest().WriteFile(l.within(), path, 0, strings.NewReader(content)))(l.t)
}

// newest is the newest snapshot in the log.
func (l *lab) newest() choir.Digest {
	l.t.Helper()
	head, _ := l.store.Head()
	s, _, err := l.store.SnapshotAt(l.within(), head)
	if err != nil {
		l.t.Fatal(err)
	}
	return s.Snapshot
}

// TestACopiedWorkspaceThatIsLostIsThatOfTheLastMoment kills the control plane and then
// ends the sandbox, too.
func TestACopiedWorkspaceThatIsLostIsThatOfTheLastMoment(t *testing.T) {
	l := newFakeLab(t, copiesOnly)
	l.write("mine", "1")
	l.waitForBoth()
	l.unrecorded("stray", "x")
	l.killed()
	again := openLab(t, l.cfg) // the sandbox lives, with all that is in it
	if got := again.content("mine") + again.content("stray"); got != "1x" {
		t.Errorf("taken up, it has %q", got)
	}
	again.waitForBoth()
	newest := again.newest()
	again.unrecorded("mine", "2")
	again.killed()
	again.cfg.ground.LoseAtRecover(2)
	last := openLab(t, l.cfg)
	if got := last.content("mine"); got != "1" {
		t.Errorf("the file of the last moment is %q", got)
	}
	last.waitForBoth()
	if got := last.newest(); got != newest {
		t.Errorf("the loss was recorded as a change: %s, then %s", newest, got)
	}
	last.notOnTheHost()
}

// TestACopiedWorkspaceOfAKilledStartIsFilled has the control plane die when the sandbox
// was made and nothing was put into it.
func TestACopiedWorkspaceOfAKilledStartIsFilled(t *testing.T) {
	l := newFakeLab(t, copiesOnly)
	l.write("mine", "1")
	l.waitForBoth()
	l.unrecorded("stray", "x") // which an orderly stop brings along
	l.stop()
	note := filepath.Join(l.cfg.Data, string(l.cfg.Computer), "handles", "associate.json")
	cfg := l.cfg
	cfg.wrap = func(d sandbox.Driver) sandbox.Driver { return deaf{l.cfg.wrap(d)} }
	killed := openLab(t, cfg)
	killed.eventually(func() bool { _, err := os.Stat(note); return err == nil })
	made := killed.cfg.ground.Made()
	killed.killed()
	again := openLab(t, l.cfg)
	if got := again.content("mine") + again.content("stray"); got != "1x" {
		t.Errorf("it has %q", got)
	}
	again.waitForBoth()
	if now := again.cfg.ground.Made(); now > made+1 { // the Director's may not have been made before
		t.Errorf("%d sandboxes were made again", now-made)
	}
}

// TestAComputerMovesBetweenDriversThatBindAndThatCopy changes the driver at each start.
// What was written last is there, whatever lay in the folder of the host.
func TestAComputerMovesBetweenDriversThatBindAndThatCopy(t *testing.T) {
	l := newFakeLab(t)
	bound, copied := l.cfg, l.cfg
	copiesOnly(&copied)
	l.write("mine", "0")
	l.waitForBoth()
	l.stop()
	content := "0"
	for i, cfg := range []labConfig{copied, bound, bound, copied, copied, bound} {
		l = openLab(t, cfg)
		if got := l.content("mine"); got != content {
			t.Errorf("start %d has %q, not %q", i, got, content)
		}
		l.waitForBoth()
		content += "+"
		if i%2 == 0 {
			l.write("mine", content)
		} else {
			l.unrecorded("mine", content)
			if cfg.wrap == nil {
				if err := l.Workspace().RecordNow(l.within()); err != nil { // a folder of the host is left as it is
					t.Fatal(err)
				}
			}
		}
		l.stop()
	}
}
