package projects

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace/workspacetest"
)

// TestWhatIsPushedFollowsFromTheLog folds checkpoints and the ends of pushes.
func TestWhatIsPushedFollowsFromTheLog(t *testing.T) {
	var s pushes
	const first, second = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	s.committed(choir.Commit{Repo: "", Commit: first}) // the workspace's own repository
	if len(s) != 0 {
		t.Errorf("%+v", s)
	}
	s.committed(choir.Commit{Repo: "p", Commit: first})
	s.failed(choir.RepoPushFailed{Name: "p", Commit: first, Attempts: 2, Said: "no"})
	if got := s["p"]; !got.Pending() || got.Attempts != 2 || got.Said != "no" {
		t.Errorf("after two failures %+v", got)
	}
	s.committed(choir.Commit{Repo: "p", Commit: second})
	s.failed(choir.RepoPushFailed{Name: "p", Commit: first, Attempts: 3}) // of the commit before
	if got := s["p"]; !got.Pending() || got.Attempts != 0 || got.Wanted != second {
		t.Errorf("with a new commit %+v", got)
	}
	s.pushed(choir.RepoPushed{Name: "p", URL: "u", Commit: first})
	if got := s["p"]; !got.Pending() {
		t.Errorf("an old commit was pushed: %+v", got)
	}
	s.pushed(choir.RepoPushed{Name: "p", URL: "u", Commit: second})
	if got := s["p"]; got.Pending() || got.URL != "u" {
		t.Errorf("the new commit was pushed: %+v", got)
	}
}

func TestTheWaitsBetweenPushesGrow(t *testing.T) {
	last := time.Duration(0)
	for attempts := 1; attempts <= 200; attempts++ {
		wait := waitAfter(attempts)
		if wait < last || wait < firstWait || wait > longWait {
			t.Fatalf("after %d attempts %s, after one less %s", attempts, wait, last)
		}
		last = wait
	}
	if last != longWait {
		t.Errorf("it ends at %s", last)
	}
}

// TestASlowServerHoldsUpNoOther pushes more projects to a server that never answers than there is
// room for, one to another server, and then that one's next commit.
func TestASlowServerHoldsUpNoOther(t *testing.T) {
	l := newLab(t)
	hanging, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hanging.Close() // which ends the connections that nobody accepts
	bare := t.TempDir()
	l.git(bare, "init", "--quiet", "--bare", ".")
	var slow []string
	for i := range maxPushes {
		slow = append(slow, fmt.Sprint("a", i))
	}
	for _, name := range append(slow, "z") {
		l.mustAdd(NewProject{Name: name, Commit: &FirstCommit{Message: "Begin", At: time.Unix(1e9, 0)}}, [2]string{"a.txt", "a"})
		l.checkpoint(name)
	}
	l.push = PushConfig{Computer: l.Computer, After: time.After, Remote: func(name string, _ Link) (url, gate string, ok bool) {
		if name == "z" {
			return "https://good.test/z", bare, true
		}
		return "https://slow.test/" + name, "git://" + hanging.Addr().String() + "/" + name, true
	}}
	ctx, cancel := context.WithCancel(l.Within())
	served := make(chan error, 1)
	go func() { served <- l.Serve(ctx) }()
	for commits := 1; commits <= 2; commits++ {
		for {
			seq := l.Head()
			if len(l.All(choir.TypeRepoPushed)) >= commits {
				break
			}
			if err := l.Log.WaitPast(ctx, seq); err != nil {
				t.Fatal("the slow server holds up the other: ", err)
			}
		}
		if commits == 1 {
			l.git(filepath.Join(l.Dir, Folder, "z"), "-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "--allow-empty", "-m", "next")
			l.checkpoint("z")
		}
	}
	if has, want := l.git(bare, "rev-parse", "choir/"+string(l.Computer)), l.git(filepath.Join(l.Dir, Folder, "z"), "rev-parse", "HEAD"); has != want {
		t.Errorf("the other server has %s, want %s", has, want)
	}
	if !l.Pushing() || int(l.pushing.Load()) > maxPerServer+1 { // one may just have ended
		t.Errorf("%d pushes hang", l.pushing.Load())
	}
	cancel()
	if err := <-served; !errors.Is(err, context.Canceled) || l.Pushing() {
		t.Errorf("it ends with %v, pushing %v", err, l.Pushing())
	}
}

// git runs git in a folder of the test's own and returns what it says.
func (l *lab) git(dir string, args ...string) string {
	l.T.Helper()
	said, err := exec.CommandContext(l.Within(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		l.T.Fatalf("git %q: %v: %s", args, err, said)
	}
	return strings.TrimSpace(string(said))
}

// checkpoint appends a checkpoint with the newest commit of a project.
func (l *lab) checkpoint(name string) {
	l.T.Helper()
	root, err := l.LastSnapshot(l.Within())
	if err == nil {
		_, err = l.Events.Append(l.Within(), choir.RoleControl, choir.CheckpointCreated{
			Checkpoint: workspacetest.NewID(l.T), Snapshot: root, Subject: "x", Trigger: "manual",
			Commits: []choir.Commit{{Repo: name, Commit: l.git(filepath.Join(l.Dir, Folder, name), "rev-parse", "HEAD")}},
		})
	}
	if err != nil {
		l.T.Fatal(err)
	}
}
