package conductor

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// attempt is one task of a step, with its result.
type attempt struct {
	step   choir.PlanStep
	number int // from 1
	task   choir.DirectorTask
	result choir.AssociateResult
	heard  []string // what the user added that the worker was told
}

// isKept reports whether what the task tried, and what was taken back, is kept for another
// task.
func (a *attempt) isKept() bool {
	return a.result.Attempt != "" && a.result.Status == choir.StatusFailed && a.step.Kind == choir.TaskEditRepo
}

// maxRefusals is the maximum of refused plans in one run.
const maxRefusals = 3

// submitPlan is the tool submit_plan: it records a plan, dispatches the first task and
// returns its result. With a plan it changes the steps that are left, see changePlan.
func (r *run) submitPlan(ctx context.Context, call model.Block) (agentloop.Result, error) {
	if r.plan != nil {
		return r.changePlan(ctx, call)
	}
	p, problems := r.readPlan(call.Input)
	if len(problems) > 0 {
		return r.refusePlan(problems)
	}
	r.plan = newPlan(p)
	made := effect{id: r.ledger.eventID(choir.TypePlanMade), cause: r.rec.cause, payload: &r.plan.PlanMade}
	if err := r.ledger.commit(append(r.ledger.documentEffect(), made)...); err != nil {
		return agentloop.Result{}, err
	}
	text, err := r.dispatch(ctx)
	return textResult("The plan holds. "+text, err)
}

// readPlan decodes a plan and returns the problems that prevent its acceptance. A plan
// that an earlier execution accepted or refused is accepted or refused again, even if
// this build would decide otherwise.
func (r *run) readPlan(input []byte) (choir.PlanMade, []string) {
	if problems := r.rec.refusedPlan(r.refusals); problems != nil {
		return choir.PlanMade{}, problems
	}
	if made := r.rec.madePlan(); made != nil {
		return *made, nil
	}
	return decodePlan(input, r.rec.prompt.Repo, r.rec.repos, nil)
}

// refusePlan records the problems of a plan and returns them to the model. After
// maxRefusals it ends the run.
func (r *run) refusePlan(problems []string) (agentloop.Result, error) {
	r.refusals++
	refused := effect{id: r.ledger.eventID(choir.TypePlanRefused, r.refusals), cause: r.rec.cause, payload: &choir.PlanRefused{Problems: problems}}
	if err := r.ledger.commit(append(r.ledger.documentEffect(), refused)...); err != nil {
		return agentloop.Result{}, err
	}
	list := strings.Join(problems, "\n- ")
	if r.refusals == maxRefusals {
		return r.endWith(ending{choir.OutcomeFailed, choir.CodeInvalidPlan, "No plan of the model held. The last one was refused because:\n- " + list})
	}
	return agentloop.Result{Text: "The plan does not hold; nothing was started. Correct it and hand it in again:\n- " + list, IsError: true}, nil
}

// maxTokenBudget is the maximum token budget of a task.
const maxTokenBudget = 1_000_000_000

// dispatch sends the task of the next step, waits for its result and returns the message
// about it for the model.
func (r *run) dispatch(ctx context.Context) (string, error) {
	if err := r.waitWhilePaused(ctx); err != nil {
		return "", err
	}
	step := r.plan.steps[r.plan.next]
	a := r.plan.ahead
	if a == nil || a.step.ID != step.ID {
		if r.spent.tasks >= r.cfg.Limits.Tasks {
			return "", limitError("tasks", float64(r.cfg.Limits.Tasks), float64(r.spent.tasks))
		}
		if r.tokensLeft() < 1 {
			return "", limitError("tokens", float64(r.cfg.Limits.Tokens), float64(r.spent.tokens))
		}
		var err error
		if a, err = r.send(step); err != nil {
			return "", err
		}
	} else {
		r.plan.ahead = nil
	}
	if err := r.sendAhead(); err != nil {
		return "", err
	}
	text, err := r.collect(ctx, a)
	if ahead := r.plan.ahead; err == nil && ahead != nil {
		text += "\n\nStep " + strconv.Quote(ahead.step.ID) + " was begun beside this one; its result comes next. It stays in the plan as it is."
	}
	return text, err
}

// tokensLeft returns how many tokens the run's limit leaves.
func (r *run) tokensLeft() int64 { return r.cfg.Limits.Tokens - r.spent.tokens }

// send dispatches a task of a step.
func (r *run) send(step choir.PlanStep) (*attempt, error) {
	r.spent.tasks++
	r.plan.tries[step.ID]++
	a := &attempt{step: step, number: r.plan.tries[step.ID]}
	a.task = newTask(r.ledger.id("task", a.step.ID, a.number), r.rec.run, r.rec.prompt.Repo, a.step)
	a.task.TokenBudget = int(min(r.tokensLeft(), maxTokenBudget))
	a.task.FromAttempt, r.plan.from = r.plan.from, ""
	a.task.Worktree = a.task.Worktree && a.task.FromAttempt == ""
	sent := &choir.TaskDispatched{Task: a.task, Step: a.step.ID}
	err := r.ledger.commit(effect{id: r.ledger.eventID(choir.TypeTaskDispatched, a.task.TaskID), task: a.task.TaskID, cause: r.ledger.eventID(choir.TypePlanMade), payload: sent})
	a.task.TaskID = sent.Task.TaskID // another one where somebody took it
	return a, err
}

// sendAhead dispatches the first task of the step after the next one, if both have worktrees
// and it depends on no step that is not accepted, so that they run at once.
func (r *run) sendAhead() error {
	if r.plan.ahead != nil || r.plan.next+1 >= len(r.plan.steps) || r.spent.tasks >= r.cfg.Limits.Tasks || r.tokensLeft() < 1 {
		return nil
	}
	now, later := r.plan.steps[r.plan.next], r.plan.steps[r.plan.next+1]
	accepted := idsOf(r.plan.accepted())
	depends := slices.ContainsFunc(later.DependsOn, func(id string) bool { return !accepted[id] })
	if !now.Worktree || !later.Worktree || depends || r.plan.tries[later.ID] > 0 {
		return nil
	}
	a, err := r.send(later)
	r.plan.ahead = a
	return err
}

// collect waits for a task's result, asks the user its questions, and returns the
// message about both for the model.
func (r *run) collect(ctx context.Context, a *attempt) (string, error) {
	returned, notes, heard, err := r.rec.result(ctx, a.task.TaskID)
	if err != nil {
		return "", err
	}
	a.result, a.heard = returned.Result, heard
	r.pending = a
	r.evidence.results = append(r.evidence.results, a)
	r.spent.addTask(a.result.Usage)
	r.ledger.updateStory(&returned)
	if err := r.ledger.commit(); err != nil {
		return "", err
	}
	diff, err := r.evidence.diff(ctx, a.result.Diff)
	if err != nil {
		return "", err
	}
	if err := r.evidence.readOutputs(ctx, &a.result); err != nil {
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

// contentOf returns the inline text of a diff; "" for nil.
func contentOf(d *choir.Diff) string {
	if d == nil {
		return ""
	}
	return d.Content
}

// judgeResult is the tool judge_result: it records a verdict on the pending result and
// acts on it.
func (r *run) judgeResult(ctx context.Context, call model.Block) (agentloop.Result, error) {
	a := r.pending
	var recorded *choir.TaskJudged
	if a != nil {
		recorded = r.rec.verdictOn(a.task.TaskID)
	}
	stands := recorded != nil
	j, mistakes := readJudgement(call.Input, a, stands)
	if a != nil && j.Step == a.step.ID && !stands {
		unproved, err := r.evidence.proofMistakes(ctx, j, a)
		if err != nil {
			return agentloop.Result{}, err
		}
		mistakes = append(mistakes, unproved...)
	}
	if len(mistakes) > 0 {
		return refuse(mistakes...)
	}
	if stands {
		j.Verdict, j.Criteria, j.Reason = recorded.Verdict, recorded.Criteria, recorded.Reason
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
		if err := checkTask(task); err != nil && !stands {
			return refuse(choir.Under("revised", err))
		}
	}
	r.pending = nil
	if err := r.ledger.commit(effect{id: r.ledger.eventID(choir.TypeTaskJudged, a.task.TaskID), task: a.task.TaskID, payload: payload}); err != nil {
		return agentloop.Result{}, err
	}
	return r.applyVerdict(ctx, a, j, next)
}

// checkTask returns an error if a task violates a rule of the contract or is too large
// for one event.
func checkTask(task choir.DirectorTask) error {
	if err := task.Check(); err != nil {
		return err
	}
	if raw, err := choir.Canonical(task); err != nil || len(raw) > maxPlanBytes {
		return choir.Invalid("", "the task has %d bytes; at most %d fit", len(raw), maxPlanBytes)
	}
	return nil
}

// applyVerdict acts on a verdict: it ends the run, or dispatches the next or the revised
// task.
func (r *run) applyVerdict(ctx context.Context, a *attempt, j judgement, next choir.PlanStep) (agentloop.Result, error) {
	switch j.Verdict {
	case choir.VerdictAbort:
		return r.endWith(ending{choir.OutcomeFailed, abortCode(a.result), j.Reason})
	case choir.VerdictRevise:
		r.plan.steps[r.plan.next] = next
		if j.Revised.FromAttempt && a.isKept() {
			r.plan.from = a.task.TaskID
		}
		return textResult(r.dispatch(ctx))
	}
	r.plan.next++
	if !r.plan.isOpen() {
		return textResult("Every step is accepted. Give the user the final answer with the tool answer.", nil)
	}
	text, err := r.dispatch(ctx)
	return textResult("Accepted. "+text, err)
}

// abortCode returns the reason for an aborted run: the code of its last task, or unmet
// if that task succeeded.
func abortCode(result choir.AssociateResult) choir.Code {
	if result.Code != "" {
		return choir.Code(result.Code)
	}
	return choir.CodeUnmet
}
