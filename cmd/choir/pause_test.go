package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"choiros/internal/choir"
)

// TestAPausedRunSurvives pauses a run while the model of its task answers. Then choir is
// killed, or stopped in order and its sandboxes with it, and started again: the run is still
// paused, nothing of it has begun, and it goes on where it was, with no call made twice.
func TestAPausedRunSurvives(t *testing.T) {
	for name, end := range map[string]func(*running){"a kill": (*running).kill, "a stop": (*running).stop} {
		t.Run(name, func(t *testing.T) {
			s := scriptNamed(t, "two_dependent_tasks")
			m := newMachine(t, "")
			server := m.model(s)
			g := newGate(`"model":"associate"`)
			server.Config.Handler = g.before(server.Config.Handler)
			open := sync.OnceFunc(func() { close(g.opened) })
			t.Cleanup(open)
			r := m.up()
			c := m.client()
			r.healthy()
			m.must("repo", "add", m.project(s, "greeter"), "--name", "greeter")
			run := begin(t, c, s)
			<-g.reached
			if out := m.must("run", "pause", string(run)); !strings.Contains(out, "choir run resume "+string(run)) {
				t.Errorf("pause says %q", out)
			}
			open()
			c.waitFor(t, run, func(e choir.Event) bool { return e.Type == choir.TypeModelReturned && e.Task != "" })
			calls := len(server.Requests())
			end(r)
			r = m.up()
			r.healthy()
			c = m.client()
			if v := c.view(t, run); v.PausedSeq == 0 || !v.State.Open() {
				t.Errorf("after the start the run is %s, paused by %d", v.State, v.PausedSeq)
			}
			if out := m.must("run", string(run)); !strings.Contains(out, "(paused)") {
				t.Errorf("it is shown as %q", out)
			}
			if again := m.must("run", "pause", string(run)); !strings.Contains(again, "was paused already") {
				t.Errorf("paused again it says %q", again)
			}
			if out := m.must("run", "resume", string(run)); !strings.Contains(out, "goes on") {
				t.Errorf("resume says %q", out)
			}
			events := m.play(c, s, run)
			if v := c.view(t, run); v.State != "done" {
				for _, task := range v.Tasks {
					if task.Result != nil {
						t.Logf("task %s: %s %s: %s", task.ID, task.Result.Status, task.Result.Code, task.Result.Summary)
					}
				}
				t.Errorf("the run is %s: %s", v.State, v.Answer)
			}
			noEffectTwice(t, c.log(t))
			resumed := slices.IndexFunc(events, func(e choir.Event) bool { return e.Type == choir.TypeRunResumed })
			for _, e := range events[:resumed] {
				if e.Type == choir.TypeToolCalled {
					t.Errorf("event %d: a tool was called before the run went on", e.Seq)
				}
			}
			// The calls of both tasks and their Director, none of them twice.
			if again := len(server.Requests()); again <= calls {
				t.Errorf("%d calls before the end, %d in all", calls, again)
			}
			if told := working(server.Requests(), "Change hello.sh"); len(told) != 1 {
				t.Errorf("the first task's model was asked first %v times", told)
			}
		})
	}
}

// TestAPausedRunCanBeStopped while its task's command, which was in hand, would go on for ten
// minutes.
func TestAPausedRunCanBeStopped(t *testing.T) {
	s := scriptNamed(t, "cancelled")
	s.User = nil
	m := newMachine(t, "")
	m.model(s)
	r := m.up()
	c := m.client()
	r.healthy()
	run := begin(t, c, s)
	c.waitFor(t, run, func(e choir.Event) bool { return e.Type == choir.TypeTaskStarted })
	m.must("run", "pause", string(run))
	if out := m.must("run", string(run), "--cancel"); !strings.Contains(out, "was stopped; it is cancelled") {
		t.Errorf("it says %q", out)
	}
	if v := c.view(t, run); v.PausedSeq != 0 {
		t.Errorf("a run that has ended is paused by %d", v.PausedSeq)
	}
	if ended := m.run("run", "pause", string(run)); ended.code == 0 {
		t.Errorf("a run that has ended is paused: %s", ended.out)
	}
}

// TestAClientThatLostItsServerSaysHowToGoOn: the command that it names follows the run.
func TestAClientThatLostItsServerSaysHowToGoOn(t *testing.T) {
	s := scriptNamed(t, "cancelled")
	s.User = nil
	m := newMachine(t, "")
	m.model(s)
	r := m.up()
	c := m.client()
	r.healthy()
	run := begin(t, c, s)
	c.waitFor(t, run, func(e choir.Event) bool { return e.Type == choir.TypeTaskStarted })
	a := newApp()
	a.json = true // prints nothing of what happens
	ended := make(chan error, 1)
	go func() {
		_, err := a.untilItEnds(t.Context(), c, run, 0)
		ended <- err
	}()
	r.kill()
	var lost *choir.Error
	if err, want := <-ended, "choir run "+string(run)+" --follow"; !errors.As(err, &lost) || !strings.Contains(lost.Remedy, want) {
		t.Errorf("it says %+v and not %q", lost, want)
	}
	r = m.up()
	r.healthy()
	c = m.client()
	if err := c.post(t.Context(), c.path("/runs/"+string(run)+"/cancel"), struct{}{}, nil); err != nil {
		t.Fatal(err)
	}
	if out := m.run("run", string(run), "--follow"); !strings.Contains(out.out+out.errOut, "cancelled") {
		t.Errorf("followed again it says %q %q", out.out, out.errOut)
	}
}

// waitFor waits for an event of a run.
func (c *client) waitFor(t *testing.T, run choir.ID, is func(choir.Event) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := c.follow(ctx, run, 0, func(e choir.Event) (bool, error) { return is(e), nil }); err != nil {
		t.Fatal(err)
	}
}
