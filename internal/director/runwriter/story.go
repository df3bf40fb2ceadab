// Package runwriter writes the living document of a run from its events. It is a pure
// function of them: the same events always give the same Markdown.
package runwriter

import (
	"choiros/internal/choir"
)

// Story is the state of a run as far as its document shows it. The zero value is an
// empty story.
type Story struct {
	asked    choir.PromptSubmitted
	goal     string
	steps    []*step
	refused  int
	added    []string
	dialogue []exchange
	finished *choir.RunFinished
}

// step is one step of the plan with the tasks dispatched for it.
type step struct {
	plan    choir.PlanStep
	tasks   []*task
	dropped bool // it is not in the plan any more
}

type task struct {
	id     choir.ID
	result *choir.AssociateResult
	judged *choir.TaskJudged
}

// exchange is a question to the user with its answer, "" while there is none.
type exchange struct {
	question choir.Question
	answer   string
}

// Render returns the document of a run after the given events, in order. Events that the
// document does not show are skipped. The error is a *choir.Error with the path of a
// payload's field.
func Render(events []choir.Event) (string, error) {
	var s Story
	for _, e := range events {
		if _, known := choir.LookupType(e.Type); !known {
			continue // of a newer choir
		}
		p, err := choir.ReadPayload(e.Type, e.Payload)
		if err != nil {
			return "", err
		}
		s.Apply(p)
	}
	return s.Markdown(), nil
}

// Apply adds one event, given as a pointer to its payload. It reports whether the
// document shows that type.
func (s *Story) Apply(p choir.Payload) bool {
	switch p := p.(type) {
	case *choir.PromptSubmitted:
		s.asked = *p
	case *choir.SteeringSubmitted:
		s.added = append(s.added, p.Text)
	case *choir.PlanRefused:
		s.refused++
	case *choir.PlanMade:
		s.applyPlan(*p)
	case *choir.PlanChanged:
		s.applyChange(*p)
	case *choir.TaskDispatched:
		s.dispatch(*p)
	case *choir.TaskReturned:
		s.changeTask(p.Result.TaskID, func(t *task) { t.result = &p.Result })
	case *choir.TaskJudged:
		s.changeTask(p.Task, func(t *task) { t.judged = p })
	case *choir.QuestionAsked:
		s.dialogue = append(s.dialogue, exchange{question: p.Question})
	case *choir.QuestionAnswered:
		s.applyAnswer(*p)
	case *choir.RunFinished:
		s.finished = p
	default:
		return false
	}
	return true
}

// applyPlan replaces the goal and the steps by those of a plan.
func (s *Story) applyPlan(p choir.PlanMade) {
	s.goal = p.Goal
	s.steps = nil
	for _, st := range p.Steps {
		s.steps = append(s.steps, &step{plan: st})
	}
}

// applyChange replaces the steps that are not accepted. Dropped steps that had tasks stay,
// before the steps that are left.
func (s *Story) applyChange(p choir.PlanChanged) {
	s.goal = p.Goal
	var kept, left []*step
	old := map[string]*step{}
	for _, st := range s.steps {
		if st.current() == "done" || st.dropped {
			kept = append(kept, st)
		} else {
			old[st.plan.ID] = st
		}
	}
	for _, one := range p.Steps {
		st := &step{plan: one}
		if before := old[one.ID]; before != nil {
			st.tasks = before.tasks
			delete(old, one.ID)
		}
		left = append(left, st)
	}
	for _, st := range s.steps {
		if old[st.plan.ID] == st && len(st.tasks) > 0 {
			st.dropped = true
			kept = append(kept, st)
		}
	}
	s.steps = append(kept, left...)
}

// dispatch adds a task to its step. A task without a step in the plan gets a step of its
// own, so that all work is shown.
func (s *Story) dispatch(p choir.TaskDispatched) {
	for _, st := range s.steps {
		if st.plan.ID == p.Step && !st.dropped {
			st.tasks = append(st.tasks, &task{id: p.Task.TaskID})
			return
		}
	}
	s.steps = append(s.steps, &step{
		plan:  choir.PlanStep{ID: p.Step, Title: clipLine(p.Task.Instruction, maxTitle), Kind: p.Task.Kind},
		tasks: []*task{{id: p.Task.TaskID}},
	})
}

// changeTask calls change with the task of an id, if there is one.
func (s *Story) changeTask(id choir.ID, change func(*task)) {
	for _, st := range s.steps {
		for _, t := range st.tasks {
			if t.id == id {
				change(t)
			}
		}
	}
}

// Rename changes the id of a task.
func (s *Story) Rename(old, id choir.ID) { s.changeTask(old, func(t *task) { t.id = id }) }

// applyAnswer sets the answer of an open question.
func (s *Story) applyAnswer(p choir.QuestionAnswered) {
	for i := range s.dialogue {
		if s.dialogue[i].question.ID == p.Question && s.dialogue[i].answer == "" {
			s.dialogue[i].answer = p.Text
			return
		}
	}
}

// state returns the state of a step in words. over means that the run has ended.
func (st *step) state(over bool) string {
	s := st.current()
	switch {
	case !over || s == "done" || s == "given up" || s == "dropped":
		return s
	case len(st.tasks) == 0:
		return "not started"
	}
	return "not finished"
}

// current returns the state of a step in words, while the run is open.
func (st *step) current() string {
	if st.dropped {
		return "dropped"
	}
	if len(st.tasks) == 0 {
		return "waiting"
	}
	last := st.tasks[len(st.tasks)-1]
	switch {
	case last.result == nil:
		return "working"
	case last.judged == nil && last.result.Status == choir.StatusNeedsInput:
		return "needs an answer"
	case last.judged == nil:
		return "being judged"
	case last.judged.Verdict == choir.VerdictAccept:
		return "done"
	case last.judged.Verdict == choir.VerdictAbort:
		return "given up"
	}
	return "to be corrected"
}

// Progress returns the number of accepted steps, and of all steps but the dropped ones.
func (s *Story) Progress() (done, total int) {
	for _, st := range s.steps {
		if st.current() == "done" {
			done++
		}
		if !st.dropped {
			total++
		}
	}
	return done, total
}
