package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/associate/proctree"
	"choiros/internal/choir"
	"choiros/internal/model/wiretest"
)

// TestTwoStepsOfAPlanWorkAtOnceInOneProject has a model plan two steps with worktrees, of which
// each waits for the other to be at work. Both changes are in the project, and committed, and
// undoing the run takes both back.
func TestTwoStepsOfAPlanWorkAtOnceInOneProject(t *testing.T) {
	t.Parallel()
	if !proctree.Confines() {
		t.Skip("this kernel has no Landlock that covers every way of writing")
	}
	const (
		prompt = "Greet and take leave, at once."
		base   = "one\n\n\n\n\n\nend\n"
		meet   = "mktemp /dev/shm/met-XXXXXX >/dev/null; until [ $(ls /dev/shm/met-* | wc -l) = 2 ]; do sleep 0.02; done; "
	)
	var steps []any
	for _, id := range []string{"greet", "leave"} {
		steps = append(steps, map[string]any{
			"id": id, "title": "Change " + id, "kind": "edit_repo", "repo": "app", "worktree": true, "instruction": "Work on " + id + ".",
			"acceptance_criteria": []string{"the text has it"},
			"verify_profile":      map[string]any{"mode": "smoke", "commands": []any{map[string]string{"shell": "test -s text"}}},
		})
	}
	call := func(tool string, input any) wiretest.Call {
		raw, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		return wiretest.Call{Name: tool, Input: raw}
	}
	accept := func(step string) wiretest.Call {
		return call("judge_result", map[string]any{"step": step, "verdict": "accept", "reason": "It is there.", "criteria": []any{
			map[string]any{"criterion": "c1", "met": true, "shown_by": map[string]any{"kind": "check", "number": 1}}}})
	}
	rule := func(caller, first string, turn int, text string, calls ...wiretest.Call) wiretest.Rule {
		return wiretest.Rule{Name: fmt.Sprint(caller, turn), Match: wiretest.Match{Caller: caller, First: first, Turn: turn}, Respond: &wiretest.Respond{Text: text, ToolCalls: calls}}
	}
	m := newMachine(t, "")
	m.connectScript([]wiretest.Rule{
		rule("director", prompt, 1, "", call("submit_plan", map[string]any{"goal": "Both.", "steps": steps})),
		rule("director", prompt, 2, "", accept("greet")),
		rule("director", prompt, 3, "", accept("leave"), call("answer", map[string]string{"text": "Both are done."})),
		rule("associate", "Work on greet", 1, "", call("bash", map[string]string{"command": meet + "sed -i s/one/hello/ text"}), call("write_file", map[string]string{"path": "greet", "content": "hello\n"})),
		rule("associate", "Work on greet", 0, "I greeted."),
		rule("associate", "Work on leave", 1, "", call("bash", map[string]string{"command": meet + "sed -i s/end/bye/ text; cat text"})),
		rule("associate", "Work on leave", 0, "I took leave."),
	})
	project := filepath.Join(t.TempDir(), "app")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "text"), []byte(base), 0o644); err != nil {
		t.Fatal(err)
	}
	r := m.up()
	c := m.client()
	r.healthy()
	m.must("repo", "add", project, "--name", "app")
	if said := m.must("prompt", "--repo", "app", prompt); !strings.Contains(said, "Both are done.") {
		t.Errorf("the run says %s", said)
	}
	text := func() string {
		raw, err := os.ReadFile(filepath.Join(m.at("app"), "text"))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if got := text(); got != "hello\n\n\n\n\n\nbye\n" {
		t.Errorf("the text is %q", got)
	}
	var run choir.ID
	commits := 0
	for _, e := range c.log(t) {
		p, err := choir.ReadPayload(e.Type, e.Payload)
		if err != nil {
			t.Fatal(err)
		}
		switch p := p.(type) {
		case *choir.TaskReturned:
			run = e.Run
			if p.Result.Status != choir.StatusOK || p.Result.Checkpoint == nil || p.Result.Verify.Status != choir.VerifyPass {
				t.Errorf("a task returned %+v", p.Result)
			}
		case *choir.CheckpointCreated:
			commits += len(p.Commits)
		}
	}
	if commits != 2 {
		t.Errorf("%d commits, want 2", commits)
	}
	m.must("undo", string(run))
	if got := text(); got != base {
		t.Errorf("undone the text is %q", got)
	}
}
