package computer

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/projects"
	"choiros/internal/computer/selfsource/selfsourcetest"
	"choiros/internal/sandbox"
	"choiros/internal/sandbox/sandboxtest"
)

// leftovers are the processes of the host that know a data folder.
func leftovers(t *testing.T, data string) (left []string) {
	t.Helper()
	data = sandboxtest.Bound(t, data)
	all := must(filepath.Glob("/proc/[0-9]*/mountinfo"))(t)
	for _, path := range all {
		raw, err := os.ReadFile(path)
		cmd, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if err == nil && strings.Contains(string(raw), data) {
			left = append(left, strings.ReplaceAll(string(cmd), "\x00", " "))
		}
	}
	return left
}

func TestAnOrderlyStopLeavesNothing(t *testing.T) {
	l := newLab(t)
	l.sh("sleep 1000 >/dev/null 2>&1 &")
	l.waitEvent(func(e choir.Event) bool {
		return e.Type == "sandbox.started" && strings.Contains(string(e.Payload), "director")
	})
	l.stop()
	if left := leftovers(t, l.cfg.Data); len(left) > 0 {
		t.Errorf("processes: %q", left)
	}
	handles := must(filepath.Glob(filepath.Join(l.cfg.Data, string(l.cfg.Computer), "handles", "*")))(t)
	sockets := must(filepath.Glob(filepath.Join(l.cfg.Data, string(l.cfg.Computer), "*", "doors", "*")))(t)
	if len(handles)+len(sockets) > 0 {
		t.Errorf("left %q %q", handles, sockets)
	}
	again := openLab(t, l.cfg)
	ended := again.all("session.ended")
	if len(ended) != 1 || again.session.Recovered() {
		t.Errorf("%d ends of the session; recovered %v", len(ended), again.session.Recovered())
	}
}

func TestASandboxIsTakenUpAgainAfterACrash(t *testing.T) {
	cfg, _ := crashed(t)
	again := openLab(t, cfg)
	e := again.waitEvent(func(e choir.Event) bool {
		p := payload[choir.SandboxStarted](t, e)
		return e.Type == "sandbox.started" && p.Role == choir.RoleAssociate && p.Recovered
	})
	sessions := again.all("session.started")
	if started := payload[choir.SessionStarted](t, sessions[len(sessions)-1]); !started.Recovered || e.Seq == 0 {
		t.Errorf("the session is not called recovered: %+v", started)
	}
	task := again.commands(choir.TaskRun, "echo works")
	if r := again.result(task); r.Status != choir.StatusOK {
		t.Errorf("%s %s", r.Code, r.Summary)
	}
}

// eventually waits for what nothing tells of.
func (l *lab) eventually(done func() bool) {
	l.t.Helper()
	ctx := l.within()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			l.t.Fatal("waited in vain")
		}
	}
}

func TestARoleAndASandboxThatDieAreReplaced(t *testing.T) {
	l := newLab(t)
	before := l.rolePID()
	l.sh("echo here > /tmp/here")
	if err := l.guest().StopRole(l.within()); err != nil {
		t.Fatal(err)
	}
	l.eventually(func() bool { now := l.rolePID(); return now != 0 && now != before })
	if l.sh("cat /tmp/here") != "here\n" {
		t.Error("the role's end took its sandbox with it")
	}
	if r := l.result(l.commands(choir.TaskRun, "true")); r.Status != choir.StatusOK {
		t.Errorf("%s %s", r.Code, r.Summary)
	}
	handles := filepath.Join(l.cfg.Data, string(l.cfg.Computer), "handles")
	box := must(l.cfg.driver().Recover(l.within(), readNote(t, handles).Handle))(t)
	if err := box.Destroy(l.within()); err != nil {
		t.Fatal(err)
	}
	l.waitEvent(ofType("sandbox.stopped"))
	if r := l.result(l.commands(choir.TaskRun, "true")); r.Status != choir.StatusOK {
		t.Errorf("%s %s", r.Code, r.Summary)
	}
}

func TestAStoppedTaskIsAnsweredAndTakenBackWithoutTheAssociate(t *testing.T) {
	l := newLab(t)
	l.write("x", "before\n")
	base := l.root()
	task := l.commands(choir.TaskEditRepo, "echo half > x; touch /tmp/begun; "+hold)
	waiting := l.commands(choir.TaskRun, "true")
	l.made("/tmp/begun")
	// The Associate cannot answer: it is stopped, and so is every other one.
	l.sh("kill -STOP " + strconv.Itoa(l.rolePID()))
	for _, run := range []choir.ID{waiting.RunID, task.RunID} {
		if err := l.Runs().Cancel(l.within(), choir.RoleCLI, run, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, stopped := range []choir.DirectorTask{waiting, task} {
		if r := l.result(stopped); r.Code != choir.ResultCancelled {
			t.Errorf("%s %s", r.Code, r.Summary)
		}
	}
	if now := l.root(); now != base {
		t.Errorf("the workspace is not what it was: %s", l.sh("cat x"))
	}
	if err := l.Runs().Cancel(l.within(), choir.RoleCLI, task.RunID, ""); choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("again: %v", err)
	}
	if r := l.result(l.commands(choir.TaskRun, "true")); r.Status != choir.StatusOK {
		t.Errorf("the next task: %s %s", r.Code, r.Summary)
	}
}

func num(n int64) string { raw, _ := json.Marshal(n); return string(raw) }

func TestATaskIsDispatchedOnce(t *testing.T) {
	l := newLab(t)
	task := l.commands(choir.TaskRun, "true")
	first := l.result(task)
	other := task
	other.Commands = []choir.Command{{Shell: "exit 1"}}
	_, err := l.events.AppendToRun(l.within(), choir.RoleCLI, newTestID(t), task.RunID, task.TaskID, choir.TaskDispatched{Task: other})
	if choir.CodeOf(err) != choir.CodeConflict {
		t.Errorf("dispatched with other commands: %v", err)
	}
	if r := l.result(l.commands(choir.TaskRun, "true")); r.Status != choir.StatusOK {
		t.Errorf("%s %s", r.Code, r.Summary)
	}
	if n := len(l.all("task.returned")); n != 2 || first.Status != choir.StatusOK {
		t.Errorf("%d results for two tasks", n)
	}
}

func TestEgressIsRefusedOncePerHostAndTask(t *testing.T) {
	l := newLab(t)
	wget := "for i in 1 2 3; do curl -sS http://example.org/ http://other.example/ >/dev/null 2>&1; done; true"
	l.sh("command -v curl >/dev/null || { echo 'curl is not in the sandbox' >&2; exit 1; }")
	for range 2 {
		l.result(l.commands(choir.TaskRun, wget))
	}
	seen := map[string]int{}
	for _, e := range l.all("egress.refused") {
		seen[payload[choir.EgressRefused](t, e).Host]++
		if e.Task == "" {
			t.Error("it names no task")
		}
	}
	if seen["example.org"] != 2 || seen["other.example"] != 2 || len(seen) != 2 {
		t.Errorf("recorded %v", seen)
	}
}

// crashed is a computer whose control plane was killed while both sandboxes ran.
func crashed(t *testing.T) (cfg labConfig, handles string) {
	t.Helper()
	l := newLab(t)
	l.stop() // only its folders are wanted
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), asVictim+"="+string(must(json.Marshal(l.cfg))(t)))
	victim.Stderr = os.Stderr
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	handles = filepath.Join(l.cfg.Data, string(l.cfg.Computer), "handles")
	l.eventually(func() bool {
		_, a := os.Stat(filepath.Join(handles, "associate.json"))
		_, b := os.Stat(filepath.Join(handles, "director.json"))
		return a == nil && b == nil
	})
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait() // killed
	return l.cfg, handles
}

// deaf is a driver whose sandboxes are made and do not answer.
type deaf struct{ sandbox.Driver }

func (d deaf) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	box, err := d.Driver.Create(ctx, spec)
	if err != nil {
		return nil, err
	}
	return deafSandbox{box}, nil
}

type deafSandbox struct{ sandbox.Sandbox }

func (deafSandbox) Dial(ctx context.Context) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestTheWorkspaceOfAKilledStartIsLaidOut has the control plane die when the first
// sandbox was made and nothing was put into its workspace.
func TestTheWorkspaceOfAKilledStartIsLaidOut(t *testing.T) {
	l := newFakeLab(t, func(c *labConfig) {
		c.Source = selfsourcetest.Pack(t, firstDesktop)
		c.wrap = func(d sandbox.Driver) sandbox.Driver { return deaf{d} }
	})
	note := filepath.Join(l.cfg.Data, string(l.cfg.Computer), "handles", "associate.json")
	l.eventually(func() bool { _, err := os.Stat(note); return err == nil })
	l.killed()
	if found := must(os.ReadDir(l.workspaceDir()))(t); len(found) != 0 {
		t.Fatalf("the workspace has %v already", found)
	}
	l.cfg.wrap = nil
	again := openLab(t, l.cfg)
	again.waitEvent(func(e choir.Event) bool {
		p := payload[choir.SandboxStarted](t, e)
		return e.Type == "sandbox.started" && p.Role == choir.RoleAssociate && p.Recovered
	})
	var names []string
	for _, e := range must(os.ReadDir(again.workspaceDir()))(t) {
		names = append(names, e.Name())
	}
	if raw, err := os.ReadFile(filepath.Join(again.workspaceDir(), "choiros", "src", "b.ts")); err != nil || string(raw) != "b\n" || !slices.Equal(names, []string{"artifacts", "choiros", "workspace"}) {
		t.Errorf("the workspace has %q; %q, %v", names, raw, err)
	}
}

func TestASandboxOfAnotherBuildIsReplaced(t *testing.T) {
	cfg, handles := crashed(t)
	path := filepath.Join(handles, "associate.json")
	note := readNote(t, handles)
	note.Guest = "another"
	if err := os.WriteFile(path, must(json.Marshal(note))(t), 0o600); err != nil {
		t.Fatal(err)
	}
	again := openLab(t, cfg)
	if r := again.result(again.commands(choir.TaskRun, "echo works")); r.Status != choir.StatusOK {
		t.Errorf("%s %s", r.Code, r.Summary)
	}
	for _, e := range again.all("sandbox.started") {
		if p := payload[choir.SandboxStarted](t, e); p.Role == choir.RoleAssociate && p.Recovered {
			t.Error("the sandbox of another build was taken up again")
		}
	}
	if old, err := cfg.driver().Recover(again.within(), note.Handle); err == nil {
		t.Errorf("it still runs: %v", old.Handle())
	}
}

func TestASandboxThatCannotStartSaysWhyInTime(t *testing.T) {
	l := newLab(t, func(cfg *labConfig) { cfg.Guest = filepath.Join(cfg.Data, "nowhere") })
	began := time.Now()
	_, err := l.Projects().Add(l.within(), choir.RoleCLI, projects.NewProject{Name: "hello"}, strings.NewReader(""))
	if choir.CodeOf(err) != choir.CodeUnavailable || !strings.Contains(err.Error(), "nowhere") || time.Since(began) > 10*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
	if why := l.Roles().Failure(choir.RoleAssociate); why == nil {
		t.Error("the computer does not know why")
	}
}
