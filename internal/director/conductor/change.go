package conductor

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// changePlan replaces the steps of the plan that are not accepted. A result that waits
// for its judgement still does if its step comes first with the same kind, project,
// criteria and checks; else that step was changed, moved or dropped, and the first step that is left
// is dispatched.
func (r *run) changePlan(ctx context.Context, call model.Block) (agentloop.Result, error) {
	change, problems := r.readChange(call.Input)
	if len(problems) > 0 {
		return agentloop.Result{Text: "The change does not hold; the plan is as it was. Correct it and hand it in again:\n- " + strings.Join(problems, "\n- "), IsError: true}, nil
	}
	judgesNext := r.isPending(change.Steps[0])
	changed := effect{id: r.ledger.eventID(choir.TypePlanChanged, r.plan.changes+1), cause: r.rec.cause, payload: change}
	if err := r.ledger.commit(changed); err != nil {
		return agentloop.Result{}, err
	}
	r.plan.change(slices.Clone(change.Steps))
	if judgesNext {
		r.pending.step = change.Steps[0]
		return textResult(fmt.Sprintf("The plan is changed. Judge the result of step %q with judge_result.", r.pending.step.ID), nil)
	}
	r.pending = nil
	text, err := r.dispatch(ctx)
	return textResult("The plan is changed. "+text, err)
}

// readChange decodes a change of the plan and returns the problems that prevent it. A
// change that an earlier execution accepted is accepted again.
func (r *run) readChange(input []byte) (*choir.PlanChanged, []string) {
	if before := r.rec.changedPlan(r.plan.changes); before != nil {
		return before, nil
	}
	p, problems := decodePlan(input, r.rec.prompt.Repo, r.rec.repos, r.plan.accepted())
	if len(problems) > 0 {
		return nil, problems
	}
	if len(r.plan.accepted())+len(p.Steps) > maxSteps {
		problems = append(problems, fmt.Sprintf("steps make a plan of more than %d with those that are accepted", maxSteps))
	}
	for i, s := range p.Steps {
		if r.plan.tries[s.ID] >= maxTasksPerStep && !(i == 0 && r.isPending(s)) {
			problems = append(problems, fmt.Sprintf("steps[%d].id step %q has had its %d tasks: leave it out, or hand in another step with another id", i, s.ID, maxTasksPerStep))
		}
	}
	if a := r.plan.ahead; a != nil && !slices.ContainsFunc(p.Steps, func(s choir.PlanStep) bool { return reflect.DeepEqual(s, a.step) }) {
		problems = append(problems, fmt.Sprintf("steps step %q is at work beside the one that you judge: hand it in as it was", a.step.ID))
	}
	return &choir.PlanChanged{Goal: p.Goal, Steps: p.Steps}, problems
}

// isPending reports whether a step is the one whose result waits for its judgement, so
// that the result can be held against it.
func (r *run) isPending(s choir.PlanStep) bool {
	if r.pending == nil {
		return false
	}
	p := r.pending.step
	return s.ID == p.ID && s.Kind == p.Kind && s.Repo == p.Repo && isSameWork(s, p) && slices.EqualFunc(s.AcceptanceCriteria, p.AcceptanceCriteria, func(a, b string) bool { return normal(a) == normal(b) })
}

// isSameWork reports whether the step s runs the same commands and checks as p, which has
// run. A step without checks of its own takes the checks that ran.
func isSameWork(s, p choir.PlanStep) bool {
	return (s.VerifyProfile == nil || reflect.DeepEqual(s.VerifyProfile, p.VerifyProfile)) &&
		reflect.DeepEqual(s.Commands, p.Commands) && slices.Equal(s.GitArgs, p.GitArgs)
}

// maxSteps is the maximum of steps of a plan.
const maxSteps = 32
