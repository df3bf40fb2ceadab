package conductor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// walkLog is a log whose tasks return at once, as the draw has it.
type walkLog struct {
	lookLog
	rec  *record
	draw func() choir.Status
	sent map[choir.ID]*choir.TaskDispatched
}

func (l *walkLog) Append(_ context.Context, drafts ...choir.Draft) ([]choir.Receipt, error) {
	for _, d := range drafts {
		payload, err := choir.ReadPayload(d.Type, d.Payload)
		if err != nil {
			return nil, err
		}
		l.rec.apply(choir.Event{Run: pastRun, Task: d.Task}, payload)
		if sent, ok := payload.(*choir.TaskDispatched); ok {
			l.sent[sent.Task.TaskID] = sent
			status := l.draw()
			result := choir.AssociateResult{TaskID: sent.Task.TaskID, RunID: pastRun, Status: status, Summary: "So it is."}
			if status == choir.StatusFailed {
				result.Code, result.Attempt = choir.ResultVerifyFailed, choir.ZeroHash
			}
			l.rec.apply(choir.Event{Run: pastRun, Task: d.Task}, &choir.TaskReturned{Result: result})
		}
	}
	return make([]choir.Receipt, len(drafts)), nil
}

// walkStep draws a step of a plan.
func walkStep(t *rapid.T, id string) choir.PlanStep {
	kind := rapid.SampledFrom([]choir.TaskKind{choir.TaskEditRepo, choir.TaskInspect}).Draw(t, "kind")
	return choir.PlanStep{
		ID: id, Title: id, Kind: kind, Repo: "house", Worktree: kind == choir.TaskEditRepo && rapid.Bool().Draw(t, "worktree"),
		Commands:    rapid.SampledFrom([][]choir.Command{nil, {{Shell: "true"}}}).Draw(t, "commands"),
		Instruction: "do " + id, AcceptanceCriteria: []string{rapid.SampledFrom([]string{"it is done", "it is seen"}).Draw(t, "criterion")},
	}
}

// walkCall draws a tool call that fits the state of the run or does not.
func walkCall(t *rapid.T, r *run) (string, any) {
	switch rapid.SampledFrom([]string{"submit_plan", "judge_result", "judge_result", "look", "answer"}).Draw(t, "tool") {
	case "submit_plan":
		var steps []choir.PlanStep
		for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 1, 3, rapid.ID).Draw(t, "ids") {
			steps = append(steps, walkStep(t, id))
		}
		return "submit_plan", choir.PlanMade{Goal: "it is done", Steps: steps}
	case "judge_result":
		j := judgement{Step: "a", Verdict: rapid.SampledFrom([]choir.Verdict{"accept", "accept", "revise", "abort"}).Draw(t, "verdict"), Reason: "so"}
		if j.Verdict == choir.VerdictAbort && rapid.Bool().Draw(t, "rather not") {
			j.Verdict = choir.VerdictAccept
		}
		if r.pending != nil {
			j.Step = r.pending.step.ID
			for _, c := range r.pending.step.AcceptanceCriteria {
				j.Criteria = append(j.Criteria, choir.CriterionMet{Criterion: c, Met: j.Verdict == choir.VerdictAccept, ShownBy: &choir.Proof{Kind: choir.ProofSummary}})
			}
		}
		if j.Verdict == choir.VerdictRevise {
			j.Revised = &revision{Instruction: "do it better", FromAttempt: rapid.Bool().Draw(t, "goes on")}
		}
		return "judge_result", j
	case "look":
		return "look", lookInput{What: "list"}
	}
	return "answer", answerInput{Status: rapid.SampledFrom([]choir.AnswerStatus{choir.AnsweredDone, choir.AnsweredPartly, choir.AnsweredNotDone}).Draw(t, "status"), Text: "So it is."}
}

// TestEveryStateOfARunLeadsOn walks through runs by tool calls that fit or do not. An
// accepted step stays, an open plan has a result to judge, by the criteria and commands
// that its task was given, a task goes on from an attempt of its own step only, no step has
// more than its tasks, and from every state an answer ends the run.
func TestEveryStateOfARunLeadsOn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		log := &walkLog{sent: map[choir.ID]*choir.TaskDispatched{}, draw: func() choir.Status {
			return rapid.SampledFrom([]choir.Status{choir.StatusOK, choir.StatusOK, choir.StatusFailed}).Draw(rt, "status")
		}}
		log.seen, log.text = &[]choir.LookRequest{}, "a\n"
		r := pastOf(log)
		r.ledger.life, log.rec = rt.Context(), r.rec
		r.rec.repos = []string{"house"}
		r.cfg.Limits = choir.RunLimits{Tasks: 12, Tokens: 1_000_000}
		accepted := 0
		var stay []string
		for n := range rapid.IntRange(1, 20).Draw(rt, "calls") {
			tool, input := walkCall(rt, r)
			_, err := callTool(r, n, tool, input)
			var over *reached
			if errors.As(err, &over) {
				return
			}
			if err != nil {
				rt.Fatalf("%s: %v", tool, err)
			}
			if r.ending != nil {
				if r.ending.outcome == choir.OutcomeDone && r.status == choir.AnsweredDone && r.plan != nil && r.plan.isOpen() {
					rt.Fatal("done with an open step")
				}
				return
			}
			if r.plan == nil {
				continue
			}
			var ids []string
			for _, s := range r.plan.accepted() {
				ids = append(ids, s.ID)
			}
			if r.plan.next < accepted || !slices.Equal(ids[:accepted], stay) {
				rt.Fatalf("accepted were %v, now %v", stay, ids)
			}
			accepted, stay = r.plan.next, ids
			if r.plan.isOpen() && (r.pending == nil || r.pending.step.ID != r.plan.steps[r.plan.next].ID) {
				rt.Fatalf("no result to judge of step %v", r.plan.steps[r.plan.next].ID)
			}
			if p := r.pending; p != nil {
				sent := log.sent[p.task.TaskID]
				if from := sent.Task.FromAttempt; from != "" && (p.number < 2 || log.sent[from].Step != sent.Step) {
					rt.Fatalf("task %d of %s goes on from %s", p.number, sent.Step, from)
				}
				if sent.Step != p.step.ID || sent.Task.Kind != p.step.Kind || !slices.Equal(sent.Task.AcceptanceCriteria, p.step.AcceptanceCriteria) || len(sent.Task.Commands) != len(p.step.Commands) {
					rt.Fatalf("the result of %+v is judged as that of %+v", sent, p.step)
				}
			}
			for id, tries := range r.plan.tries {
				if tries > maxTasksPerStep {
					rt.Fatalf("step %s had %d tasks", id, tries)
				}
			}
		}
		if _, err := callTool(r, 100, "answer", answerInput{Status: choir.AnsweredNotDone, Text: "No."}); err != nil || r.ending == nil {
			rt.Fatalf("no answer ends it: %v", err)
		}
	})
}

// callTool calls a tool of the run.
func callTool(r *run, n int, name string, input any) (agentloop.Result, error) {
	raw, err := json.Marshal(input)
	if err != nil {
		return agentloop.Result{}, err
	}
	for _, tool := range r.tools() {
		if tool.Def.Name == name {
			return tool.Run(r.ledger.life, model.Block{CallID: fmt.Sprint(n), Tool: name, Input: raw})
		}
	}
	panic("no tool " + name)
}

// TestTwoStepsInWorktreesAreSentAtOnce has a plan of two steps that do not depend on each other,
// and a third that does.
func TestTwoStepsInWorktreesAreSentAtOnce(t *testing.T) {
	t.Parallel()
	log := &walkLog{sent: map[choir.ID]*choir.TaskDispatched{}, draw: func() choir.Status { return choir.StatusOK }}
	r := pastOf(log)
	r.ledger.life, log.rec, r.rec.repos = t.Context(), r.rec, []string{"house"}
	r.cfg.Limits = choir.RunLimits{Tasks: 12, Tokens: 1_000_000}
	inWorktree := func(id string, dependsOn ...string) choir.PlanStep {
		return choir.PlanStep{ID: id, Title: id, Kind: choir.TaskEditRepo, Repo: "house", Worktree: true, Instruction: "do " + id, AcceptanceCriteria: []string{"it is done"}, DependsOn: dependsOn}
	}
	call := func(n int, tool string, input any, want ...string) string {
		t.Helper()
		got, err := callTool(r, n, tool, input)
		if err != nil {
			t.Fatal(err)
		}
		var sent []string
		for _, s := range log.sent {
			if !s.Task.Worktree {
				t.Errorf("the task of %s has no worktree", s.Step)
			}
			sent = append(sent, s.Step)
		}
		if slices.Sort(sent); !slices.Equal(sent, want) {
			t.Errorf("after %s the steps %q were sent, want %q", tool, sent, want)
		}
		return got.Text
	}
	accept := func(step string) judgement {
		return judgement{Step: step, Verdict: choir.VerdictAccept, Reason: "so", Criteria: []choir.CriterionMet{{Criterion: "it is done", Met: true, ShownBy: &choir.Proof{Kind: choir.ProofSummary}}}}
	}
	a, b, c := inWorktree("a"), inWorktree("b"), inWorktree("c", "b")
	if text := call(1, "submit_plan", choir.PlanMade{Goal: "g", Steps: []choir.PlanStep{a, b, c}}, "a", "b"); !strings.Contains(text, `Step "b" was begun beside this one`) {
		t.Errorf("the Director is told %s", text)
	}
	if text := call(2, "submit_plan", choir.PlanMade{Goal: "g", Steps: []choir.PlanStep{a, inWorktree("d")}}, "a", "b"); !strings.Contains(text, `step "b" is at work`) {
		t.Errorf("a change without it is answered with %s", text)
	}
	call(3, "judge_result", accept("a"), "a", "b")
	call(4, "judge_result", accept("b"), "a", "b", "c")
	call(5, "judge_result", accept("c"), "a", "b", "c")
	if r.plan.isOpen() || r.spent.tasks != 3 {
		t.Errorf("%d tasks, open: %v", r.spent.tasks, r.plan.isOpen())
	}
}
