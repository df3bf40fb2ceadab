package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/computer/terminals"
	"choiros/internal/director/runscript"
	"choiros/internal/model/wiretest"
)

// serving is the script of two tasks, of which the first runs a command that does not end.
func serving(t *testing.T, command string) runscript.Script {
	t.Helper()
	s := scriptNamed(t, "two_dependent_tasks")
	script, err := wiretest.ParseScript(s.Model)
	if err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(map[string]any{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	for i := range script.Rules {
		if script.Rules[i].Name == "edit code" {
			script.Rules[i].Respond.ToolCalls = []wiretest.Call{{Name: "bash", Input: input}}
		}
	}
	if s.Model, err = json.Marshal(script); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestThePersonSeesAndEndsACommandOfATask that would run for ten minutes: it is listed with its task
// and followed while it prints; the agent is told that a person ended it.
func TestThePersonSeesAndEndsACommandOfATask(t *testing.T) {
	s := serving(t, "echo ready at $PWD; exec sleep 600")
	m := newMachine(t, "")
	m.model(s)
	r := m.up()
	c := m.client()
	r.healthy()
	m.must("repo", "add", m.project(s, "greeter"), "--name", "greeter")
	if out := m.must("run", "commands"); !strings.Contains(out, "No task runs a command") {
		t.Errorf("without a task it says %q", out)
	}
	run := begin(t, c, s)
	var all []terminals.Info
	m.eventually("the command is listed", func() error {
		out := m.must("run", "commands", string(run), "--json")
		if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) == 0 {
			return errors.Join(err, errors.New(out))
		}
		return nil
	})
	one := all[0]
	if one.Agent.Run != run || one.Agent.Command != "echo ready at $PWD; exec sleep 600" || !strings.HasPrefix(one.Agent.Title, "Change hello.sh") || one.Opened == 0 {
		t.Errorf("it is listed as %+v of %+v", one, one.Agent)
	}
	if out := m.must("run", "commands"); !strings.Contains(out, string(one.ID)) || !strings.Contains(out, "of the task: Change hello.sh") {
		t.Errorf("it is listed as %q", out)
	}
	followed := make(chan ran, 1)
	go func() { followed <- m.run("run", "commands", "--follow", string(one.ID)) }()
	m.eventually("somebody looks on", func() error {
		var now []terminals.Info
		if err := c.get(t.Context(), c.path("/terminals"), &now); err != nil || len(now) != 1 || now[0].Viewers != 1 {
			return errors.Join(err, errors.New("nobody"))
		}
		return nil
	})
	m.must("run", "commands", "--end", string(one.ID))
	if got := <-followed; got.code != 0 || got.out != "ready at /workspace/workspace/greeter\n" || !strings.Contains(got.errOut, "by SIGTERM]") {
		t.Errorf("followed it ends with %d: %q %q", got.code, got.out, got.errOut)
	}
	if out := m.must("run", "commands", string(run)); !strings.Contains(out, "No task runs a command") {
		t.Errorf("after its end it says %q", out)
	}
	c.waitFor(t, run, func(e choir.Event) bool { return e.Type == choir.TypeToolReturned })
	for _, e := range c.log(t) {
		switch e.Type {
		case choir.TypeCommandEndRequested:
			if e.Source != choir.RoleCLI.Source() || e.Task != one.Agent.Task {
				t.Errorf("event %d: it was ended by %s in task %s", e.Seq, e.Source, e.Task)
			}
		case choir.TypeToolReturned:
			var p choir.ToolReturned
			if err := json.Unmarshal(e.Payload, &p); err != nil || p.Call == one.ID && !strings.Contains(p.Output, "a person ended this command") {
				t.Errorf("event %d: the agent is told %s", e.Seq, e.Payload)
			}
		}
	}
	m.must("run", string(run), "--cancel")
}
