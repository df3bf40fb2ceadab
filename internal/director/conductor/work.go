package conductor

import (
	"context"
	"strings"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// attempt is one task of a step.
type attempt struct {
	step   choir.PlanStep
	number int // from 1
	task   choir.DirectorTask
	result choir.AssociateResult
}

// maxRefusals is how many plans may fail to hold.
const maxRefusals = 3

func (r *run) submitPlan(ctx context.Context, call model.Block) (agentloop.Result, error) {
	if r.plan != nil {
		return refuse(choir.E("", choir.CodeConflict, "this run has a plan; change a step with verdict revise of judge_result"))
	}
	p, problems := r.readPlan(call.Input)
	if len(problems) > 0 {
		return r.refusePlan(problems)
	}
	r.plan = newPlan(p)
	made := effect{id: r.eventID(choir.TypePlanMade), cause: r.rec.cause, payload: &r.plan.PlanMade}
	if err := r.commit(append(r.open(), made)...); err != nil {
		return agentloop.Result{}, err
	}
	text, err := r.dispatch(ctx)
	return said("The plan holds. "+text, err)
}

// readPlan reads a plan and says why it does not hold. What was decided before
// stands, also where this build would decide otherwise.
func (r *run) readPlan(input []byte) (choir.PlanMade, []string) {
	if problems := r.rec.refusedPlan(r.refusals); problems != nil {
		return choir.PlanMade{}, problems
	}
	if made := r.rec.madePlan(); made != nil {
		return *made, nil
	}
	return decodePlan(input, r.rec.prompt.Repo, r.rec.repos)
}

func (r *run) refusePlan(problems []string) (agentloop.Result, error) {
	r.refusals++
	refused := effect{id: r.eventID(choir.TypePlanRefused, r.refusals), cause: r.rec.cause, payload: &choir.PlanRefused{Problems: problems}}
	if err := r.commit(append(r.open(), refused)...); err != nil {
		return agentloop.Result{}, err
	}
	list := strings.Join(problems, "\n- ")
	if r.refusals == maxRefusals {
		return r.end(ending{choir.OutcomeFailed, choir.CodeInvalidPlan, "No plan of the model held. The last one was refused because:\n- " + list})
	}
	return agentloop.Result{Text: "The plan does not hold; nothing was started. Correct it and hand it in again:\n- " + list, IsError: true}, nil
}

// maxTokenBudget is the largest token budget a task may carry.
const maxTokenBudget = 1_000_000_000

// dispatch sends the task of the next step and waits for its result.
func (r *run) dispatch(ctx context.Context) (string, error) {
	i := r.plan.next
	if r.spent.tasks >= r.cfg.Limits.Tasks {
		return "", over("tasks", float64(r.cfg.Limits.Tasks), float64(r.spent.tasks))
	}
	left := r.cfg.Limits.Tokens - r.spent.tokens
	if left < 1 {
		return "", over("tokens", float64(r.cfg.Limits.Tokens), float64(r.spent.tokens))
	}
	r.spent.tasks++
	r.plan.tries[i]++
	a := &attempt{step: r.plan.steps[i], number: r.plan.tries[i]}
	a.task = newTask(r.id("task", a.step.ID, a.number), r.rec.run, r.rec.prompt.Repo, a.step)
	a.task.TokenBudget = int(min(left, maxTokenBudget))
	sent := &choir.TaskDispatched{Task: a.task, Step: a.step.ID}
	err := r.commit(effect{id: r.eventID(choir.TypeTaskDispatched, a.task.TaskID), task: a.task.TaskID, cause: r.eventID(choir.TypePlanMade), payload: sent})
	if err != nil {
		return "", err
	}
	a.task.TaskID = sent.Task.TaskID // another one where somebody took it
	return r.collect(ctx, a)
}

// collect waits for a result, asks the user what only the user knows, and says
// it all to the model.
func (r *run) collect(ctx context.Context, a *attempt) (string, error) {
	returned, notes, err := r.rec.result(ctx, a.task.TaskID)
	if err != nil {
		return "", err
	}
	a.result = returned.Result
	r.pending = a
	r.spent.task(a.result.Usage)
	r.tell(&returned)
	if err := r.commit(); err != nil {
		return "", err
	}
	diff, err := r.diff(ctx, a.result.Diff)
	if err != nil {
		return "", err
	}
	text := resultText(a, notes, diff)
	if a.result.Status != choir.StatusNeedsInput {
		return text, nil
	}
	for _, q := range a.result.Questions {
		if r.questions >= maxQuestions {
			break
		}
		answer, err := r.ask(ctx, q)
		if err != nil {
			return "", err
		}
		text += "\n\nThe user was asked: " + clipHead(q.Text, maxQuestionText) + "\nThe user answered: " + answer
	}
	return text, nil
}

// diff is the text of a change; one that is no longer in the store is left out.
func (r *run) diff(ctx context.Context, d *choir.Diff) (string, error) {
	if d == nil || d.Blob == "" {
		return contentOf(d), nil
	}
	raw, err := r.cfg.Log.GetBlob(ctx, d.Blob)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", nil
	}
	return strings.ToValidUTF8(string(raw), "�"), err
}

func contentOf(d *choir.Diff) string {
	if d == nil {
		return ""
	}
	return d.Content
}

func (r *run) judgeResult(ctx context.Context, call model.Block) (agentloop.Result, error) {
	a := r.pending
	stands := a != nil && r.rec.wasJudged(a.task.TaskID)
	j, err := readJudgement(call.Input, a, stands)
	if err != nil {
		return refuse(err)
	}
	payload := &choir.TaskJudged{Task: a.task.TaskID, Step: j.Step, Verdict: j.Verdict, Criteria: j.Criteria, Reason: j.Reason}
	if payload.Criteria == nil {
		payload.Criteria = []choir.CriterionMet{}
	}
	if raw, err := choir.Canonical(payload); err != nil || len(raw) > choir.InlineLimit {
		return refuse(choir.Invalid("criteria", "make a judgement of %d bytes, more than %d: shorten the evidence", len(raw), choir.InlineLimit))
	}
	next := a.step
	if j.Verdict == choir.VerdictRevise {
		next = revised(a.step, j.Revised)
		task := newTask(a.task.TaskID, r.rec.run, r.rec.prompt.Repo, next)
		if err := fits(task); err != nil && !stands {
			return refuse(choir.Under("revised", err))
		}
	}
	r.pending = nil
	if err := r.commit(effect{id: r.eventID(choir.TypeTaskJudged, a.task.TaskID), task: a.task.TaskID, payload: payload}); err != nil {
		return agentloop.Result{}, err
	}
	return r.follow(ctx, a, j, next)
}

// fits refuses a task that breaks a rule or is too large for one event.
func fits(task choir.DirectorTask) error {
	if err := task.Check(); err != nil {
		return err
	}
	if raw, err := choir.Canonical(task); err != nil || len(raw) > maxPlanBytes {
		return choir.Invalid("", "the task has %d bytes; at most %d fit", len(raw), maxPlanBytes)
	}
	return nil
}

// follow does what a verdict means.
func (r *run) follow(ctx context.Context, a *attempt, j judgement, next choir.PlanStep) (agentloop.Result, error) {
	switch j.Verdict {
	case choir.VerdictAbort:
		return r.end(ending{choir.OutcomeFailed, abortCode(a.result), j.Reason})
	case choir.VerdictRevise:
		r.plan.steps[r.plan.next] = next
		return said(r.dispatch(ctx))
	}
	r.plan.next++
	if r.plan.next == len(r.plan.steps) {
		return said("Every step is accepted. Give the user the final answer with the tool answer.", nil)
	}
	text, err := r.dispatch(ctx)
	return said("Accepted. "+text, err)
}

// abortCode is the stable reason of a run that was given up: that of its last
// task, or that a task was fine and its result was not.
func abortCode(result choir.AssociateResult) choir.Code {
	if result.Code != "" {
		return choir.Code(result.Code)
	}
	return choir.CodeUnmet
}
