package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/director/runscript"
	"choiros/internal/sandbox/sandboxtest"
)

// everyStep makes the crash tests kill at each step of every run, not at some of
// one, and other tests take what is too slow for each day; see tools/soak.sh.
const everyStep = "CHOIR_TEST_EVERY_STEP"

func soaking() bool { return os.Getenv(everyStep) != "" }

// stride is how many steps lie between two kills.
func stride(normal int) int {
	if soaking() {
		return 1
	}
	return normal
}

// killed is a process that a crash test kills.
type killed string

const (
	controlPlane killed = "choir"
	directorRole killed = "choir-director"
	associate    killed = "choir-associate"
	associateBox killed = "choir-init"
)

// TestARunSurvivesKills kills each process of the system in turn, in the middle
// of a run. The run must end, done or honestly failed, and no effect may be
// there twice. A soak does this at every step of every scripted run and of the
// recorded demo.
func TestARunSurvivesKills(t *testing.T) {
	t.Parallel()
	stories := []runscript.Script{demoScript(t)}
	if soaking() {
		scripts, err := runscript.Load(scriptsDir)
		if err != nil {
			t.Fatal(err)
		}
		stories = append(stories, append(scripts, runscript.Script{Name: recordedDemo})...)
	}
	for _, s := range stories {
		for _, victim := range []killed{controlPlane, directorRole, associate, associateBox} {
			t.Run(s.Name+"/"+string(victim), func(t *testing.T) { survive(t, s, victim) })
		}
	}
}

// recordedDemo is the run that choir demo plays, told from the scripts by its
// name.
const recordedDemo = "recorded_demo"

func survive(t *testing.T, s runscript.Script, victim killed) {
	m := newMachine(t, "[limits]\nprompt_burst = 1000\n")
	if s.Name != recordedDemo {
		m.model(s)
	}
	up := m.up()
	up.healthy()
	for _, repo := range s.Repos() {
		m.must("repo", "add", m.project(s, repo), "--name", repo)
	}
	done := 0
	for nth := 1; ; nth += stride(7) {
		up.healthy()
		a := &attempt{m: m, c: m.client(), script: s, seen: map[choir.Type]int{}}
		a.run = a.begin()
		if !a.killAt(up, victim, nth) {
			break
		}
		if victim == controlPlane {
			up = m.up()
			a.c = m.client()
		}
		a.follow(func(choir.Event) bool { return false })
		if a.c.view(t, a.run).State == "done" {
			done++
		}
		noEffectTwice(t, a.c.log(t))
		m.must("log", "--verify")
	}
	t.Logf("%d runs were done in spite of the kill", done)
	if s.Prompt.Repo == "tally" && (victim == controlPlane || victim == directorRole) && done == 0 {
		t.Errorf("no run survived a kill of %s", victim)
	}
	computer := string(m.client().computer)
	up.stop()
	m.nothingLeft(computer)
}

// attempt is one run in which something is killed. It does what the script's
// user does, before the kill and after it.
type attempt struct {
	m      *machine
	c      *client
	script runscript.Script
	run    choir.ID
	after  uint64
	seen   map[choir.Type]int
}

func (a *attempt) begin() choir.ID {
	a.m.t.Helper()
	if a.script.Name != recordedDemo {
		return begin(a.m.t, a.c, a.script)
	}
	var demo api.Demo
	if err := a.c.post(a.m.t.Context(), a.c.path("/demo"), api.DemoParts{}, &demo); err != nil {
		a.m.t.Fatal(err)
	}
	return demo.Run
}

// follow goes on with the run until stop says so or it has ended; true when it
// has ended.
func (a *attempt) follow(stop func(choir.Event) bool) (ended bool) {
	t := a.m.t
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := a.c.follow(ctx, a.run, a.after, func(e choir.Event) (bool, error) {
		a.after = e.Seq
		a.seen[e.Type]++
		for _, r := range a.script.User {
			if r.After == e.Type && max(1, r.Nth) == a.seen[e.Type] {
				// After a kill the run may have ended without the user.
				if err := react(ctx, a.c, a.run, r); err != nil {
					t.Logf("too late: %v", err)
				}
			}
		}
		ended = e.Type == "run.finished"
		return ended || stop(e), nil
	})
	if err != nil {
		t.Fatalf("the run did not end: %v\n%v", err, a.seen)
	}
	return ended
}

// killAt kills the victim once the run has nth events; false when the run ended
// before it had so many.
func (a *attempt) killAt(up *running, victim killed, nth int) bool {
	a.m.t.Helper()
	n := 0
	if a.follow(func(choir.Event) bool { n++; return n == nth }) {
		return false
	}
	if victim == controlPlane {
		up.kill()
	} else if err := a.m.killGuest(victim); err != nil {
		a.m.t.Fatal(err)
	}
	return true
}

// demoScript is a run of two tasks on a project named as the demo's.
func demoScript(t *testing.T) runscript.Script {
	t.Helper()
	scripts, err := runscript.Load(scriptsDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		if s.Name == "two_dependent_tasks" {
			for i, f := range s.Workspace {
				s.Workspace[i].Path = strings.Replace(f.Path, "/greeter/", "/tally/", 1)
			}
			s.Prompt.Repo = "tally"
			return s
		}
	}
	t.Fatal("there is no script two_dependent_tasks")
	return runscript.Script{}
}

// killGuest kills a guest process of this machine, seen from the host.
func (m *machine) killGuest(name killed) error {
	stats, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return err
	}
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(raw), "/opt/choir/"+string(name)) || strings.HasPrefix(filepath.Base(string(raw)), "bwrap") {
			continue
		}
		if !m.owns(filepath.Dir(path), name) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return err
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

// owns reports whether a guest process belongs to this machine, by what is
// mounted in it; of the two inits only the Associate's has a workspace.
func (m *machine) owns(proc string, name killed) bool {
	mounts, err := os.ReadFile(filepath.Join(proc, "mountinfo"))
	if err != nil || !strings.Contains(string(mounts), sandboxtest.Bound(m.t, m.data)) {
		return false
	}
	return name != associateBox || strings.Contains(string(mounts), " /workspace ")
}

// finish waits until a run has ended.
func (m *machine) finish(c *client, run choir.ID) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	var last []choir.Type
	err := c.follow(ctx, run, 0, func(e choir.Event) (bool, error) {
		last = append(last, e.Type)
		return e.Type == "run.finished", nil
	})
	if err != nil {
		m.t.Fatalf("the run did not end: %v\n%v", err, last)
	}
}

// noEffectTwice holds the whole log against what may be there only once.
func noEffectTwice(t *testing.T, events []choir.Event) {
	t.Helper()
	ids, returned, finished, calls, checkpoints := map[choir.ID]bool{}, map[choir.ID]int{}, map[choir.ID]int{}, map[choir.ID]int{}, map[choir.ID]int{}
	for i, e := range events {
		if e.Seq != uint64(i+1) {
			t.Fatalf("event %d stands at %d", e.Seq, i+1)
		}
		if ids[e.ID] {
			t.Errorf("event %s is there twice", e.ID)
		}
		ids[e.ID] = true
		p, err := choir.DecodePayload(e.Type, e.Payload)
		if err != nil {
			t.Fatal(err)
		}
		switch p := p.(type) {
		case *choir.TaskReturned:
			returned[e.Task]++
		case *choir.RunFinished:
			finished[e.Run]++
		case *choir.ToolCalled:
			calls[p.Call]++
		case *choir.CheckpointCreated:
			checkpoints[e.Task]++
		}
	}
	for what, counts := range map[string]map[choir.ID]int{"result of task": returned, "end of run": finished, "tool call": calls, "checkpoint of task": checkpoints} {
		for id, n := range counts {
			if n > 1 {
				t.Errorf("%s %s is there %d times", what, id, n)
			}
		}
	}
}

func TestASecondUpOnTheSameFolderIsRefused(t *testing.T) {
	m := newMachine(t, "")
	up := m.up()
	up.healthy()
	r := m.run("up")
	if r.code != 1 || !strings.Contains(r.errOut, "another choir is running") {
		t.Fatalf("exit code %d: %s", r.code, r.errOut)
	}
	var list []api.ComputerView
	if err := m.client().get(t.Context(), "/api/computers", &list); err != nil || len(list) != 1 {
		t.Fatalf("the first one does not answer any more: %v", err)
	}
}
