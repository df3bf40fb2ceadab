// Package runwriter tells the story of a run as its living document. It is a
// pure function of the run's events: the same events give the same Markdown,
// whenever and wherever they are read.
package runwriter

import (
	"choiros/internal/choir"
)

// Story gathers what a run's events say. The zero value is an empty story.
type Story struct {
	asked    choir.PromptSubmitted
	goal     string
	steps    []*step
	refused  int
	added    []string
	dialogue []exchange
	finished *choir.RunFinished
}

// step is one step of the plan and the tasks that were sent for it.
type step struct {
	plan  choir.PlanStep
	tasks []*task
}

type task struct {
	id     choir.ID
	result *choir.AssociateResult
	judged *choir.TaskJudged
}

type exchange struct {
	question choir.Question
	answer   string
}

// Render is the document of a run after the given events, in their order.
// Events of types that the document does not tell about change nothing. The
// error is an *choir.Error with the path of a payload's field.
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

// Apply adds one event, given as a pointer to its payload. It reports whether
// the document tells about it.
func (s *Story) Apply(p choir.Payload) bool {
	switch p := p.(type) {
	case *choir.PromptSubmitted:
		s.asked = *p
	case *choir.SteeringSubmitted:
		s.added = append(s.added, p.Text)
	case *choir.PlanRefused:
		s.refused++
	case *choir.PlanMade:
		s.plan(*p)
	case *choir.TaskDispatched:
		s.dispatch(*p)
	case *choir.TaskReturned:
		s.task(p.Result.TaskID, func(t *task) { t.result = &p.Result })
	case *choir.TaskJudged:
		s.task(p.Task, func(t *task) { t.judged = p })
	case *choir.QuestionAsked:
		s.dialogue = append(s.dialogue, exchange{question: p.Question})
	case *choir.QuestionAnswered:
		s.answer(*p)
	case *choir.RunFinished:
		s.finished = p
	default:
		return false
	}
	return true
}

func (s *Story) plan(p choir.PlanMade) {
	s.goal = p.Goal
	s.steps = nil
	for _, st := range p.Steps {
		s.steps = append(s.steps, &step{plan: st})
	}
}

// dispatch files a task under its step; a task without a step in the plan gets
// one of its own, so that nothing that was done is left out.
func (s *Story) dispatch(p choir.TaskDispatched) {
	for _, st := range s.steps {
		if st.plan.ID == p.Step {
			st.tasks = append(st.tasks, &task{id: p.Task.TaskID})
			return
		}
	}
	s.steps = append(s.steps, &step{
		plan:  choir.PlanStep{ID: p.Step, Title: clipLine(p.Task.Instruction, maxTitle), Kind: p.Task.Kind},
		tasks: []*task{{id: p.Task.TaskID}},
	})
}

func (s *Story) task(id choir.ID, change func(*task)) {
	for _, st := range s.steps {
		for _, t := range st.tasks {
			if t.id == id {
				change(t)
			}
		}
	}
}

// Rename gives a task another id.
func (s *Story) Rename(old, id choir.ID) { s.task(old, func(t *task) { t.id = id }) }

func (s *Story) answer(p choir.QuestionAnswered) {
	for i := range s.dialogue {
		if s.dialogue[i].question.ID == p.Question && s.dialogue[i].answer == "" {
			s.dialogue[i].answer = p.Text
			return
		}
	}
}

// state is where a step stands, in words; over says that the run has ended.
func (st *step) state(over bool) string {
	s := st.current()
	switch {
	case !over || s == "done" || s == "given up":
		return s
	case len(st.tasks) == 0:
		return "not started"
	}
	return "not finished"
}

func (st *step) current() string {
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

// Progress is how many steps are accepted, of how many.
func (s *Story) Progress() (done, total int) {
	for _, st := range s.steps {
		if st.current() == "done" {
			done++
		}
	}
	return done, len(s.steps)
}
