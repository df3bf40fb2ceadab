package conductor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// maxPlanBytes is the maximum size of a plan, so that it fits one event.
const maxPlanBytes = choir.InlineLimit - 4<<10

// plan is an accepted plan and its progress.
type plan struct {
	choir.PlanMade
	next    int              // first step that is not accepted
	tries   map[string]int   // tasks by step
	steps   []choir.PlanStep // as they are sent: revisions and changes of the plan change them
	changes int              // changes of the plan
	ahead   *attempt         // task of a later step that was sent beside the next one's; nil for none
	from    choir.ID         // failed task from whose attempt the next one goes on; empty for none
}

func newPlan(p choir.PlanMade) *plan {
	return &plan{PlanMade: p, tries: map[string]int{}, steps: slices.Clone(p.Steps)}
}

// accepted returns the accepted steps.
func (p *plan) accepted() []choir.PlanStep { return p.steps[:p.next] }

// isOpen reports whether a step is not accepted.
func (p *plan) isOpen() bool { return p.next < len(p.steps) }

// change replaces the steps that are not accepted.
func (p *plan) change(left []choir.PlanStep) {
	p.steps = append(slices.Clone(p.accepted()), left...)
	p.changes++
}

// decodePlan decodes the input of submit_plan and sorts the steps by their dependencies.
// It returns the problems that prevent its acceptance, each with a field's path; nil if
// there are none. accepted are the steps of the run's plan that stay before these.
func decodePlan(raw []byte, repo string, repos []string, accepted []choir.PlanStep) (choir.PlanMade, []string) {
	var p choir.PlanMade
	problems := misread(choir.DecodeStrictAll(raw, &p))
	problems = append(problems, checkRead(p, problems, repo, repos, accepted)...)
	if len(problems) == 0 {
		p.Steps, problems = ordered(p.Steps, accepted)
	}
	if canonical, err := choir.Canonical(p); len(problems) == 0 && (err != nil || len(canonical) > maxPlanBytes) {
		problems = []string{fmt.Sprintf("steps make a plan of %d bytes; at most %d fit: shorten the instructions", len(canonical), maxPlanBytes)}
	}
	problems = problems[:min(len(problems), maxProblems)]
	for i := range problems {
		problems[i] = clipRunes(problems[i], maxProblem)
	}
	return p, problems
}

// Limits on the problems of one plan, so that they fit one event: their number, and the
// characters of each.
const (
	maxProblems = 16
	maxProblem  = 500
)

// problem returns the text of an error for the model, with the path first.
func problem(err error) string { return clipRunes(plain(err), maxProblem) }

// misread returns the mistakes of a decoded plan as problems.
func misread(mistakes []error) (problems []string) {
	for _, err := range mistakes {
		problems = append(problems, problem(err))
	}
	return problems
}

// checkRead is checkSteps for a plan that was decoded with the given problems: of a step
// with one of them, and of dependencies that such a step may be meant by, it says nothing.
func checkRead(p choir.PlanMade, misread []string, repo string, repos []string, accepted []choir.PlanStep) []string {
	problems := checkSteps(p, repo, repos, accepted)
	if len(misread) == 0 {
		return problems
	}
	return slices.DeleteFunc(problems, func(found string) bool {
		step, field, _ := strings.Cut(found, ".")
		return strings.HasPrefix(field, "depends_on") || slices.ContainsFunc(misread, func(m string) bool { return strings.HasPrefix(m, step+".") })
	})
}

// checkSteps returns the problems of a plan's steps, each with a field's path. repo is
// the prompt's project, repos are all.
func checkSteps(p choir.PlanMade, repo string, repos []string, accepted []choir.PlanStep) (problems []string) {
	index := map[string]int{}
	isAccepted := idsOf(accepted)
	for i, s := range p.Steps {
		at := fmt.Sprintf("steps[%d]", i)
		if isAccepted[s.ID] {
			problems = append(problems, fmt.Sprintf("%s.id %q is an accepted step and stays: hand in only the steps that are left", at, s.ID))
			continue
		}
		if first, ok := index[s.ID]; ok {
			problems = append(problems, fmt.Sprintf("%s.id %q is already the id of steps[%d]", at, s.ID, first))
			continue
		}
		index[s.ID] = i
		if s.Repo != "" && s.Repo != repo && !slices.Contains(repos, s.Repo) {
			problems = append(problems, fmt.Sprintf("%s.repo there is no project %q; there are: %s", at, s.Repo, listRepos(repos)))
		}
		problems = append(problems, repeated(at, s.AcceptanceCriteria)...)
		task := newTask(choir.ID(""), choir.ID(""), repo, s)
		if err := task.Check(); err != nil {
			problems = append(problems, problem(choir.Under(at, err)))
		}
	}
	for i, s := range p.Steps {
		for j, d := range s.DependsOn {
			if _, ok := index[d]; !ok && !isAccepted[d] {
				problems = append(problems, fmt.Sprintf("steps[%d].depends_on[%d] there is no step %q", i, j, d))
			}
		}
	}
	return problems
}

// idsOf returns the set of the steps' ids.
func idsOf(steps []choir.PlanStep) map[string]bool {
	ids := map[string]bool{}
	for _, s := range steps {
		ids[s.ID] = true
	}
	return ids
}

// repeated returns a problem for each criterion that equals an earlier one except for
// white space, because a judgement could not distinguish them.
func repeated(at string, criteria []string) (problems []string) {
	first := map[string]int{}
	for i, c := range criteria {
		if j, ok := first[normal(c)]; ok {
			problems = append(problems, fmt.Sprintf("%s.acceptance_criteria[%d] is the same as [%d]", at, i, j))
			continue
		}
		first[normal(c)] = i
	}
	return problems
}

// listRepos returns the names of projects for a sentence, "none" without any.
func listRepos(repos []string) string {
	if len(repos) == 0 {
		return "none"
	}
	return strings.Join(repos, ", ")
}

// ordered sorts steps so that each comes after those it depends on, and otherwise keeps
// their order; accepted ones come before all. It returns problems instead if the
// dependencies have a cycle.
func ordered(steps, accepted []choir.PlanStep) ([]choir.PlanStep, []string) {
	done := idsOf(accepted)
	out := make([]choir.PlanStep, 0, len(steps))
	ready := func(s choir.PlanStep) bool {
		return !done[s.ID] && !slices.ContainsFunc(s.DependsOn, func(d string) bool { return !done[d] })
	}
	for len(out) < len(steps) {
		i := slices.IndexFunc(steps, ready)
		if i < 0 {
			return nil, cycle(steps, done)
		}
		done[steps[i].ID] = true
		out = append(out, steps[i])
	}
	return out, nil
}

// cycle returns a problem for each dependency that can never be met.
func cycle(steps []choir.PlanStep, done map[string]bool) (problems []string) {
	for i, s := range steps {
		for j, d := range s.DependsOn {
			if !done[s.ID] && !done[d] {
				problems = append(problems, fmt.Sprintf("steps[%d].depends_on[%d] %q waits for %q, which waits for it or for a step that can never run", i, j, s.ID, d))
			}
		}
	}
	return problems
}

// newTask returns the task for a step. Absent budgets get the defaults, and an absent
// project is repo.
func newTask(id, run choir.ID, repo string, s choir.PlanStep) choir.DirectorTask {
	if s.Repo != "" {
		repo = s.Repo
	}
	return choir.DirectorTask{
		Version: choir.ContractVersion, TaskID: id, RunID: run, Kind: s.Kind,
		Title: s.Title, Instruction: s.Instruction, AcceptanceCriteria: s.AcceptanceCriteria, Repo: repo,
		Worktree: s.Worktree, GitAction: s.GitAction, GitArgs: s.GitArgs, AllowedTools: s.AllowedTools,
		EgressProfile: s.EgressProfile, VerifyProfile: s.VerifyProfile, Commands: s.Commands,
		TimeBudgetS: cmp.Or(s.TimeBudgetS, choir.DefaultTimeBudgetS),
		Return:      &choir.ReturnSpec{Diff: true, DiffFormat: "unified", Logs: true, FilesChanged: true},
	}
}
