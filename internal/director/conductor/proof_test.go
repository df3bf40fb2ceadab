package conductor

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// TestAProofIsLookedUp holds proofs against a result: a part that there is not, or that
// shows the opposite, is named by its field, all of them at once.
func TestAProofIsLookedUp(t *testing.T) {
	t.Parallel()
	result := choir.AssociateResult{
		Status: choir.StatusOK, Summary: "It is done.",
		FilesChanged: []choir.FileChange{{Path: "workspace/a/new.go", From: "workspace/a/old.go"}},
		CommandsRun:  []choir.CommandRun{{Command: "true"}, {Command: "grep -q x", ExitCode: 1}},
		Verify:       choir.VerifyOutcome{Log: "one\ntwo\n", Commands: []choir.CommandRun{{Command: "go test"}, {Command: "go vet", ExitCode: 1}, {Command: "x", Signal: "killed"}}},
	}
	kind := func(k choir.ProofKind) choir.Proof { return choir.Proof{Kind: k} }
	file := choir.Proof{Kind: choir.ProofFile, Path: "workspace/a/new.go", From: 2, To: 3}
	for name, c := range map[string]struct {
		proof *choir.Proof
		unmet bool
		log   error  // what a look answers
		want  string // begin of the mistake; empty when it holds
	}{
		"none":                     {nil, false, nil, "criteria[0].shown_by is required to accept"},
		"none for what is not met": {nil, true, nil, ""},
		"a check":                  {&choir.Proof{Kind: choir.ProofCheck, Number: 1}, false, nil, ""},
		"a failed check":           {&choir.Proof{Kind: choir.ProofCheck, Number: 2}, false, nil, "criteria[0].shown_by.number check 2 failed"},
		"a failed check shows that it is not met": {&choir.Proof{Kind: choir.ProofCheck, Number: 2}, true, nil, ""},
		"a killed check":           {&choir.Proof{Kind: choir.ProofCheck, Number: 3}, false, nil, "criteria[0].shown_by.number check 3 failed"},
		"no such check":            {&choir.Proof{Kind: choir.ProofCheck, Number: 4}, false, nil, "criteria[0].shown_by.number the result has only 3 of the kind check"},
		"a command that says no":   {&choir.Proof{Kind: choir.ProofCommand, Number: 2}, false, nil, ""},
		"no such command":          {&choir.Proof{Kind: choir.ProofCommand, Number: 3}, false, nil, "criteria[0].shown_by.number the result has only 2 of the kind command"},
		"a line of the log":        {&choir.Proof{Kind: choir.ProofLog, Number: 2}, false, nil, ""},
		"no such line":             {&choir.Proof{Kind: choir.ProofLog, Number: 3}, false, nil, "criteria[0].shown_by.number the verification log has 2 lines"},
		"a changed file":           {&choir.Proof{Kind: choir.ProofDiff, Path: "workspace/a/new.go"}, false, nil, ""},
		"its former name":          {&choir.Proof{Kind: choir.ProofDiff, Path: "workspace/a/old.go"}, false, nil, ""},
		"a file that was left":     {&choir.Proof{Kind: choir.ProofDiff, Path: "workspace/a"}, false, nil, "criteria[0].shown_by.path the task did not change"},
		"lines of a file":          {&file, false, nil, ""},
		"lines that there are not": {&file, false, choir.Invalid("from", "the file has 2 lines"), "criteria[0].shown_by.from the file has 2 lines"},
		"a file nobody kept":       {&file, false, choir.E("x", choir.CodeNotFound, "none"), "criteria[0].shown_by.kind no snapshot"},
		"a damaged file":           {&file, false, choir.E("x", choir.CodeCorrupt, "damaged"), "criteria[0].shown_by.path the content of"},
		"the summary":              {new(kind(choir.ProofSummary)), false, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []choir.LookRequest
			r := pastOf(lookLog{text: "3\tx\n", err: c.log, seen: &seen})
			j := judgement{Verdict: choir.VerdictAccept, Criteria: []choir.CriterionMet{{Criterion: "it is done", Met: !c.unmet, ShownBy: c.proof}}}
			mistakes, err := r.evidence.proofMistakes(t.Context(), j, &attempt{result: result, task: choir.DirectorTask{TaskID: pastRun}})
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, m := range mistakes {
				texts = append(texts, plain(m))
			}
			if got := strings.Join(texts, " "); (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
				t.Errorf("mistakes %q, want %q", got, c.want)
			}
			if c.proof == &file && (len(seen) != 1 || seen[0] != choir.LookRequest{Run: pastRun, Task: pastRun, What: choir.LookRead, Path: file.Path, From: 3, Lines: 1}) {
				t.Errorf("looked at %+v", seen)
			}
		})
	}
	empty := checkProof(kind(choir.ProofSummary), true, choir.AssociateResult{Summary: " "})
	if empty == nil {
		t.Error("an empty summary shows something")
	}
}

// TestAComputerThatDoesNotAnswerIsNoMistakeOfAProof: the judgement is tried again.
func TestAComputerThatDoesNotAnswerIsNoMistakeOfAProof(t *testing.T) {
	t.Parallel()
	var seen []choir.LookRequest
	r := pastOf(lookLog{err: choir.E("x", choir.CodeUnavailable, "away"), seen: &seen})
	j := judgement{Criteria: []choir.CriterionMet{{Criterion: "c", Met: true, ShownBy: &choir.Proof{Kind: choir.ProofFile, Path: "a", From: 1, To: 1}}}}
	if _, err := r.evidence.proofMistakes(t.Context(), j, &attempt{}); choir.CodeOf(err) != choir.CodeUnavailable {
		t.Errorf("error %v", err)
	}
}

// TestARefusedDecisionIsRefusedAgainWithoutTheCallAfterIt: the Director ended between the
// refusal and its next model call.
func TestARefusedDecisionIsRefusedAgainWithoutTheCallAfterIt(t *testing.T) {
	t.Parallel()
	r := pastOf(blobLog{})
	r.calls.step, r.calls.handled = 2, 1
	id := r.turnedDownID()
	r.calls.handled = 0
	r.rec.apply(choir.Event{ID: id, Run: pastRun}, &choir.DecisionRefused{Tool: "answer", Reason: "an earlier build said no"})
	handled := 0
	handle := r.refusedAgain(func(context.Context, model.Block) (agentloop.Result, error) {
		handled++
		return agentloop.Result{}, nil
	})
	for n, want := range []string{"an earlier build said no", ""} {
		res, err := handle(t.Context(), model.Block{CallID: fmt.Sprint(n), Tool: "answer"})
		if err != nil || res.Text != want || handled != n {
			t.Errorf("%d: %+v %v, %d carried out", n, res, err, handled)
		}
	}
}

// TestOnlyTheSameWorkIsJudgedAfterAChangeOfThePlan changes each part of a step whose
// result waits.
func TestOnlyTheSameWorkIsJudgedAfterAChangeOfThePlan(t *testing.T) {
	t.Parallel()
	step := choir.PlanStep{
		ID: "a", Title: "t", Kind: choir.TaskEditRepo, Instruction: "i", AcceptanceCriteria: []string{"it works"},
		VerifyProfile: &choir.VerifyProfile{Mode: choir.VerifyFull}, Commands: []choir.Command{{Shell: "true"}}, GitArgs: []string{"-v"},
	}
	r := &run{pending: &attempt{step: step}}
	for name, c := range map[string]struct {
		change func(*choir.PlanStep)
		same   bool
	}{
		"nothing":           {func(*choir.PlanStep) {}, true},
		"words":             {func(s *choir.PlanStep) { s.Title, s.Instruction = "x", "x" }, true},
		"spaces":            {func(s *choir.PlanStep) { s.AcceptanceCriteria = []string{" it  works"} }, true},
		"no checks named":   {func(s *choir.PlanStep) { s.VerifyProfile = nil }, true},
		"other checks":      {func(s *choir.PlanStep) { s.VerifyProfile = &choir.VerifyProfile{Mode: choir.VerifySmoke} }, false},
		"other commands":    {func(s *choir.PlanStep) { s.Commands = []choir.Command{{Shell: "false"}} }, false},
		"no commands":       {func(s *choir.PlanStep) { s.Commands = nil }, false},
		"other arguments":   {func(s *choir.PlanStep) { s.GitArgs = nil }, false},
		"another kind":      {func(s *choir.PlanStep) { s.Kind = choir.TaskRun }, false},
		"another criterion": {func(s *choir.PlanStep) { s.AcceptanceCriteria = []string{"it shines"} }, false},
		"another project":   {func(s *choir.PlanStep) { s.Repo = "b" }, false},
	} {
		changed := step
		c.change(&changed)
		if r.isPending(changed) != c.same {
			t.Errorf("%s changed: judged is %t", name, !c.same)
		}
	}
}
