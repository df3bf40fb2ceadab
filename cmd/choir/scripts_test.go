package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/director/runscript"
	"choiros/internal/eventstore"
	"choiros/internal/model/wiretest"
)

const scriptsDir = "../../internal/director/testdata/runs"

// TestScriptedRuns plays every scripted run through the whole system: the real
// Director and Associate in real sandboxes, the model a server that speaks the
// real wire format.
func TestScriptedRuns(t *testing.T) {
	t.Parallel()
	scripts, err := runscript.Load(scriptsDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		t.Run(s.Name, func(t *testing.T) {
			m, c := stage(t, s)
			run := begin(t, c, s)
			events := m.play(c, s, run)
			checkScript(t, c, s, run, events)
		})
	}
}

// waitForSnapshot waits for the first snapshot. What a Director looks at is in one from before the prompt.
func (m *machine) waitForSnapshot(c *client) {
	m.t.Helper()
	m.eventually("the first snapshot", func() error {
		if slices.ContainsFunc(c.log(m.t), func(e choir.Event) bool { return e.Type == choir.TypeSnapshotTaken }) {
			return nil
		}
		return errors.New("there is none")
	})
}

// stage starts a machine with the script's model, limits and workspace.
func stage(t *testing.T, s runscript.Script) (*machine, *client) {
	t.Helper()
	m := newMachine(t, "")
	m.model(s)
	r := m.up()
	c := m.client()
	r.healthy()
	m.waitForSnapshot(c)
	for _, repo := range s.Repos() {
		m.must("repo", "add", m.project(s, repo), "--name", repo)
	}
	return m, c
}

// model serves the script's model and connects the machine to it.
func (m *machine) model(s runscript.Script) *wiretest.Scripted {
	m.t.Helper()
	script, err := wiretest.ParseScript(s.Model)
	if err != nil {
		m.t.Fatal(err)
	}
	server := wiretest.NewScripted(script)
	m.t.Cleanup(server.Close)
	m.env = append(m.env, "SCRIPTED_KEY=sk-test-0123456789")
	m.configure(limits(s.Limits) + fmt.Sprintf(`
[models]
director = "scripted/director"
associate = "scripted/associate"
[[models.provider]]
name = "scripted"
kind = "anthropic"
base_url = %q
key_env = "SCRIPTED_KEY"
free = true
`, server.URL))
	return server
}

func limits(l choir.RunLimits) string {
	out := "[limits]\nprompt_burst = 100\n"
	for _, f := range []struct {
		key   string
		value float64
	}{{"run_steps", float64(l.Steps)}, {"run_tokens", float64(l.Tokens)}, {"run_seconds", float64(l.Seconds)}, {"run_cost_usd", l.CostUSD}, {"run_tasks", float64(l.Tasks)}} {
		if f.value > 0 {
			out += fmt.Sprintf("%s = %v\n", f.key, f.value)
		}
	}
	return out
}

// project writes one project of the script's workspace as a git repository.
func (m *machine) project(s runscript.Script, name string) string {
	m.t.Helper()
	dir := filepath.Join(m.t.TempDir(), name)
	for _, f := range s.Workspace {
		rel, ok := strings.CutPrefix(f.Path, "workspace/"+name+"/")
		if !ok {
			continue
		}
		path := filepath.Join(dir, rel)
		mode := os.FileMode(0o644)
		if f.Exec {
			mode = 0o755
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			m.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f.Content), mode); err != nil {
			m.t.Fatal(err)
		}
	}
	gitIn(m.t, dir, "init", "-q", "-b", "main")
	gitIn(m.t, dir, "add", "-A")
	gitIn(m.t, dir, "-c", "user.name=Test", "-c", "user.email=test@localhost", "commit", "-q", "-m", "begin")
	return dir
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func begin(t *testing.T, c *client, s runscript.Script) choir.ID {
	t.Helper()
	var accepted api.Accepted
	if err := c.post(t.Context(), c.path("/prompts"), api.PromptRequest{Text: s.Prompt.Text, Repo: s.Prompt.Repo}, &accepted); err != nil {
		t.Fatal(err)
	}
	return accepted.Run
}

// play follows a run to its end and does what the script's user does.
func (m *machine) play(c *client, s runscript.Script, run choir.ID) []choir.Event {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	var events []choir.Event
	seen := map[choir.Type]int{}
	err := c.follow(ctx, run, 0, func(e choir.Event) (bool, error) {
		events = append(events, e)
		seen[e.Type]++
		for _, r := range s.User {
			if r.After == e.Type && max(1, r.Nth) == seen[e.Type] {
				if err := react(ctx, c, run, r); err != nil {
					return false, err
				}
			}
		}
		return e.Type == "run.finished", nil
	})
	if err != nil {
		m.t.Fatalf("%v after %v", err, told(events))
	}
	return events
}

func react(ctx context.Context, c *client, run choir.ID, r runscript.Reaction) error {
	base := c.path("/runs/" + string(run))
	switch {
	case r.Cancel:
		return c.post(ctx, base+"/cancel", struct{}{}, nil)
	case r.Steer != "":
		if err := c.post(ctx, base+"/steer", api.Words{Text: r.Steer}, nil); err != nil {
			return err
		}
	}
	if r.Answer != "" {
		return c.post(ctx, base+"/answers", api.Words{Text: r.Answer}, nil)
	}
	return nil
}

// told returns the types of the events that a script expects. The answer of a task of a
// stopped run is none of them: the control plane gives it while the Director ends the run,
// and either may come first.
func told(events []choir.Event) []choir.Type {
	var out []choir.Type
	stopped := false
	for _, e := range events {
		stopped = stopped || e.Type == choir.TypeRunCancelRequested
		if runscript.Told(e.Type) && !(stopped && e.Type == choir.TypeTaskReturned) {
			out = append(out, e.Type)
		}
	}
	return out
}

func checkScript(t *testing.T, c *client, s runscript.Script, run choir.ID, events []choir.Event) {
	t.Helper()
	if got := told(events); !slices.Equal(got, s.Expect.Events) {
		t.Errorf("events\n got %v\nwant %v", got, s.Expect.Events)
	}
	v := c.view(t, run)
	if string(v.State) != string(s.Expect.Outcome) || v.Code != s.Expect.Code || !strings.Contains(v.Answer, s.Expect.Answer) {
		t.Errorf("the run %s (%s): %s\nwant %s (%s): %s", v.State, v.Code, v.Answer, s.Expect.Outcome, s.Expect.Code, s.Expect.Answer)
	}
	for _, f := range s.Expect.Files {
		if got := c.file(t, f.Path); got != f.Content {
			t.Errorf("%s is %q, want %q", f.Path, got, f.Content)
		}
	}
	if s.Expect.Document == nil {
		if v.Document != "" {
			t.Errorf("there is a document")
		}
		return
	}
	var d eventstore.Document
	if err := c.get(t.Context(), c.path("/documents/"+string(v.Document)), &d); err != nil {
		t.Fatal(err)
	}
	for _, want := range s.Expect.Document {
		if !strings.Contains(d.Content, want) {
			t.Errorf("the document lacks %q:\n%s", want, d.Content)
		}
	}
}
