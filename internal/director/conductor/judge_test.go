package conductor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/choir"
)

func tried(status choir.Status, number int) *attempt {
	return &attempt{
		step: choir.PlanStep{ID: "a", AcceptanceCriteria: []string{"it builds", "it runs"}}, number: number,
		result: choir.AssociateResult{Status: status},
	}
}

func TestJudgementsThatDoNotHold(t *testing.T) {
	t.Parallel()
	both := []choir.CriterionMet{{Criterion: "it builds", Met: true}, {Criterion: " it  runs\n", Met: true}}
	unmet := []choir.CriterionMet{{Criterion: "it builds", Met: true}, {Criterion: "it runs"}}
	again := &revision{Instruction: "again"}
	onward := &revision{Instruction: "go on", FromAttempt: true}
	left := tried("failed", 1)
	left.result.Attempt, left.step.Kind = choir.ZeroHash, choir.TaskEditRepo
	looked := tried("failed", 1) // an Associate may say anything
	looked.result.Attempt, looked.step.Kind = choir.ZeroHash, choir.TaskInspect
	for name, c := range map[string]struct {
		judgement judgement
		attempt   *attempt
		want      string // paths of the mistakes, in order; empty when it holds
	}{
		"accept":                 {judgement{Step: "a", Verdict: "accept", Criteria: both}, tried("ok", 1), ""},
		"revise":                 {judgement{Step: "a", Verdict: "revise", Criteria: unmet, Revised: again}, tried("failed", 1), ""},
		"abort":                  {judgement{Step: "a", Verdict: "abort", Criteria: unmet}, tried("failed", 3), ""},
		"go on":                  {judgement{Step: "a", Verdict: "revise", Criteria: unmet, Revised: onward}, left, ""},
		"go on from nothing":     {judgement{Step: "a", Verdict: "revise", Criteria: unmet, Revised: onward}, tried("failed", 1), "revised.from_attempt"},
		"go on from a look":      {judgement{Step: "a", Verdict: "revise", Criteria: unmet, Revised: onward}, looked, "revised.from_attempt"},
		"another step":           {judgement{Step: "b", Verdict: "accept", Criteria: both}, tried("ok", 1), "step"},
		"revise without a word":  {judgement{Step: "a", Verdict: "revise", Criteria: unmet}, tried("failed", 1), "revised"},
		"accept with a revision": {judgement{Step: "a", Verdict: "accept", Criteria: both, Revised: again}, tried("ok", 1), "revised"},
		"a fourth task":          {judgement{Step: "a", Verdict: "revise", Criteria: unmet, Revised: again}, tried("failed", 3), "verdict"},
		"accept a failure":       {judgement{Step: "a", Verdict: "accept", Criteria: both}, tried("failed", 1), "verdict"},
		"accept what is not met": {judgement{Step: "a", Verdict: "accept", Criteria: unmet}, tried("ok", 1), "verdict"},
		"a criterion is missing": {judgement{Step: "a", Verdict: "accept", Criteria: both[:1]}, tried("ok", 1), "criteria"},
		"one twice":              {judgement{Step: "a", Verdict: "accept", Criteria: append(both[:1:1], both[0])}, tried("ok", 1), "criteria[1].criterion criteria"},
		"all at once":            {judgement{Step: "a", Verdict: "accept", Criteria: append(unmet[1:], choir.CriterionMet{Criterion: "it shines", Met: true}), Revised: again}, tried("failed", 1), "revised criteria criteria[1].criterion verdict verdict"},
		"one invented":           {judgement{Step: "a", Verdict: "accept", Criteria: append(both[:2:2], choir.CriterionMet{Criterion: "it shines", Met: true})}, tried("ok", 1), "criteria[2].criterion"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.judgement.Criteria = append([]choir.CriterionMet(nil), c.judgement.Criteria...)
			var paths []string
			for _, err := range c.judgement.check(c.attempt) {
				path, _, _ := strings.Cut(plain(err), " ")
				paths = append(paths, path)
			}
			if got := strings.Join(paths, " "); got != c.want {
				t.Errorf("mistakes of %q, want %q", got, c.want)
			}
		})
	}
}

func TestCriteriaAreWrittenInTheWordsOfThePlan(t *testing.T) {
	t.Parallel()
	j := judgement{Step: "a", Verdict: "accept", Criteria: []choir.CriterionMet{{Criterion: "it\nruns", Met: true}, {Criterion: "it builds", Met: true}}}
	if err := j.check(tried("ok", 1)); len(err) > 0 || j.Criteria[0].Criterion != "it runs" {
		t.Errorf("criteria %+v, %v", j.Criteria, err)
	}
}

func TestARevisionChangesOnlyWhatItNames(t *testing.T) {
	t.Parallel()
	before := choir.PlanStep{ID: "a", Kind: choir.TaskRun, Instruction: "first", TimeBudgetS: 9, AllowedTools: []choir.Tool{choir.ToolBash}, AcceptanceCriteria: []string{"c"}}
	want := before
	want.Instruction = "second"
	want.Commands = []choir.Command{{Shell: "true"}}
	if diff := cmp.Diff(want, revised(before, &revision{Instruction: "second", Commands: want.Commands})); diff != "" {
		t.Error(diff)
	}
}

func FuzzJudgement(f *testing.F) {
	f.Add([]byte(`{"step":"a","verdict":"accept","criteria":[{"criterion":"it builds","met":true},{"criterion":"it runs","met":true}],"reason":"r"}`))
	f.Add([]byte(`{"step":"a","verdict":"revise","criteria":[],"reason":"r","revised":{"instruction":"i"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var j judgement
		mistakes := choir.DecodeStrictAll(raw, &j)
		if len(mistakes) == 0 {
			mistakes = j.check(tried("ok", 1))
		}
		for _, err := range mistakes {
			if at := strings.Index(plain(err), " "); at < 1 {
				t.Errorf("a refusal without a path: %v", err)
			}
		}
		if len(mistakes) > 0 {
			return
		}
		if j.Verdict == choir.VerdictAccept && len(j.Criteria) != 2 {
			t.Errorf("accepted with %d of 2 criteria", len(j.Criteria))
		}
	})
}
