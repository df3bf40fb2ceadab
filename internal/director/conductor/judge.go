package conductor

import (
	"encoding/json"
	"fmt"
	"strings"

	"choiros/internal/choir"
)

// judgement is the input of judge_result.
type judgement struct {
	Step     string               `json:"step" choir:"len=1..64"`
	Verdict  choir.Verdict        `json:"verdict" choir:"enum=accept|revise|abort"`
	Criteria []choir.CriterionMet `json:"criteria" choir:"len=0..64"`
	Reason   string               `json:"reason" choir:"len=1..4000"`
	Revised  *revision            `json:"revised,omitempty"`
}

// revision changes a step for its next task. Absent fields stay as they were; the kind
// and the acceptance criteria never change. FromAttempt is of that task alone.
type revision struct {
	Instruction   string               `json:"instruction" choir:"len=1..20000"`
	AllowedTools  []choir.Tool         `json:"allowed_tools,omitempty" choir:"len=0..16,enum=read_file|write_file|edit_file|list_files|search_files|bash|fetch_url|screenshot"`
	VerifyProfile *choir.VerifyProfile `json:"verify_profile,omitempty"`
	Commands      []choir.Command      `json:"commands,omitempty" choir:"len=0..256"`
	GitArgs       []string             `json:"git_args,omitempty" choir:"len=0..64,each=0..4096"`
	TimeBudgetS   int                  `json:"time_budget_s,omitempty" choir:"range=1..86400"`
	FromAttempt   bool                 `json:"from_attempt,omitempty"`
}

// readJudgement decodes a judgement and checks it against its result a; mistakes are all
// that it has, each with the field's path. stands means that an earlier execution accepted
// it, so it is only decoded.
func readJudgement(input []byte, a *attempt, stands bool) (j judgement, mistakes []error) {
	if stands {
		if err := json.Unmarshal(input, &j); err != nil {
			return j, []error{choir.Wrap("", choir.CodeInvalid, err, "read the judgement")}
		}
		return j, nil
	}
	if mistakes := choir.DecodeStrictAll(input, &j); len(mistakes) > 0 {
		return j, mistakes
	}
	if a == nil {
		return j, []error{choir.E("", choir.CodeConflict, "there is no result to judge")}
	}
	return j, j.check(a)
}

// maxTasksPerStep is the maximum of tasks for one step.
const maxTasksPerStep = 3

// check returns the mistakes of a judgement of the result a: code invalid, each with the
// field's path. Of a judgement of another step's result that is the only one.
func (j *judgement) check(a *attempt) (mistakes []error) {
	if j.Step != a.step.ID {
		return []error{choir.Invalid("step", "the result to judge is that of step %q, not %q", a.step.ID, j.Step)}
	}
	switch {
	case j.Verdict == choir.VerdictRevise && a.number >= maxTasksPerStep:
		mistakes = append(mistakes, choir.Invalid("verdict", "step %q has had its %d tasks: accept what is met, or abort with an honest reason", j.Step, maxTasksPerStep))
	case j.Verdict == choir.VerdictRevise && j.Revised == nil:
		mistakes = append(mistakes, choir.Invalid("revised", "is required for verdict revise: say what the next task shall do"))
	case j.Verdict != choir.VerdictRevise && j.Revised != nil:
		mistakes = append(mistakes, choir.Invalid("revised", "is only for verdict revise, not %s", j.Verdict))
	case j.Revised != nil && j.Revised.FromAttempt && !a.isKept():
		mistakes = append(mistakes, choir.Invalid("revised.from_attempt", "is not possible: the task left no attempt"))
	}
	mistakes = append(mistakes, j.covers(a.step.AcceptanceCriteria)...)
	if j.Verdict == choir.VerdictAccept {
		mistakes = append(mistakes, j.acceptable(a)...)
	}
	return mistakes
}

// criterionID is the id by which the model names the i-th criterion of a step.
func criterionID(i int) string { return fmt.Sprintf("c%d", i+1) }

// covers returns a mistake for each criterion that is not judged exactly once, by its id
// or in its words ignoring white space, and replaces each by the plan's own text.
func (j *judgement) covers(criteria []string) (mistakes []error) {
	texts := map[string]string{} // by id
	for i, c := range criteria {
		texts[criterionID(i)] = c
	}
	judged := map[string]int{}
	for i, c := range j.Criteria {
		if text, ok := texts[c.Criterion]; ok {
			c.Criterion = text
		}
		key := normal(c.Criterion)
		if first, twice := judged[key]; twice {
			mistakes = append(mistakes, choir.Invalid(fmt.Sprintf("criteria[%d].criterion", i), "is the same as criteria[%d].criterion", first))
			continue
		}
		judged[key] = i
	}
	for n, c := range criteria {
		i, ok := judged[normal(c)]
		if !ok {
			mistakes = append(mistakes, choir.Invalid("criteria", "every acceptance criterion must be judged; %s is missing: %q", criterionID(n), c))
			continue
		}
		j.Criteria[i].Criterion = c
		delete(judged, normal(c))
	}
	for i, c := range j.Criteria {
		if first, extra := judged[normal(c.Criterion)]; extra && first == i {
			mistakes = append(mistakes, choir.Invalid(fmt.Sprintf("criteria[%d].criterion", i), "%q is not a criterion of the step, which has %s", clipHead(c.Criterion, 200), criterionIDs(criteria)))
		}
	}
	return mistakes
}

// criterionIDs returns the ids of criteria as a text.
func criterionIDs(criteria []string) string {
	var ids []string
	for i := range criteria {
		ids = append(ids, criterionID(i))
	}
	return strings.Join(ids, ", ")
}

// normal returns a criterion with single spaces, for comparison.
func normal(s string) string { return strings.Join(strings.Fields(s), " ") }

// acceptable returns the reasons why a result may not be accepted: its task did not
// succeed, or a criterion is not met.
func (j *judgement) acceptable(a *attempt) (mistakes []error) {
	if a.result.Status != choir.StatusOK {
		mistakes = append(mistakes, choir.Invalid("verdict", "accept is not possible: the task's status is %s", a.result.Status))
	}
	for i, c := range j.Criteria {
		if !c.Met {
			mistakes = append(mistakes, choir.Invalid("verdict", "accept is not possible: criteria[%d] is not met; revise or abort", i))
		}
	}
	return mistakes
}

// revised returns the step with a revision applied.
func revised(s choir.PlanStep, v *revision) choir.PlanStep {
	s.Instruction = v.Instruction
	if len(v.AllowedTools) > 0 {
		s.AllowedTools = v.AllowedTools
	}
	if v.VerifyProfile != nil {
		s.VerifyProfile = v.VerifyProfile
	}
	if len(v.Commands) > 0 {
		s.Commands = v.Commands
	}
	if len(v.GitArgs) > 0 {
		s.GitArgs = v.GitArgs
	}
	if v.TimeBudgetS > 0 {
		s.TimeBudgetS = v.TimeBudgetS
	}
	return s
}
