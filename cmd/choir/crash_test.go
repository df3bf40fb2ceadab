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

// TestARunSurvivesKills plays the demo's model script and kills each process of
// the system in turn, in the middle of the run. The run must end, done or
// honestly failed, and no effect may be there twice.
func TestARunSurvivesKills(t *testing.T) {
	s := demoScript(t)
	for _, victim := range []killed{controlPlane, directorRole, associate, associateBox} {
		t.Run(string(victim), func(t *testing.T) {
			m := newMachine(t, "")
			m.model(s)
			up := m.up()
			up.healthy()
			m.must("repo", "add", m.project(s, "tally"), "--name", "tally")
			done := 0
			for nth := 1; ; nth += stride(7) {
				up.healthy()
				c := m.client()
				run := begin(t, c, s)
				if !m.killAfter(up, c, run, victim, nth) {
					break
				}
				if victim == controlPlane {
					up = m.up()
					c = m.client()
				}
				m.finish(c, run)
				if c.view(t, run).State == "done" {
					done++
				}
				noEffectTwice(t, c.log(t))
				m.must("log", "--verify")
			}
			t.Logf("%d runs were done in spite of the kill, the others said that they failed", done)
			if victim != associate && victim != associateBox && done == 0 {
				t.Errorf("no run survived a kill of %s", victim)
			}
		})
	}
}

// demoScript is the demo as a scripted run: each run writes the same change
// again, so it begins by undoing it.
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

// killAfter kills the victim once the run has nth events; false when the run
// ended before it had so many.
func (m *machine) killAfter(up *running, c *client, run choir.ID, victim killed, nth int) bool {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	n, killedIt := 0, false
	err := c.follow(ctx, run, 0, func(e choir.Event) (bool, error) {
		if n++; e.Type == "run.finished" || n < nth {
			return e.Type == "run.finished", nil
		}
		killedIt = true
		if victim == controlPlane {
			up.kill()
			return true, nil
		}
		return true, m.killGuest(victim)
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return killedIt
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
	if err != nil || !strings.Contains(string(mounts), m.data) {
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
