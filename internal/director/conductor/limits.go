package conductor

import (
	"fmt"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// spent is what a run used so far.
type spent struct {
	steps, tasks int
	tokens       int64
	cost         float64
}

func (s *spent) call(u model.Usage) {
	s.steps++
	s.tokens += u.Input + u.Output
	s.cost += u.CostUSD
}

func (s *spent) task(u choir.TaskUsage) {
	s.tokens += u.InputTokens + u.OutputTokens
	s.cost += u.CostUSD
}

// reached is the error of a run that came to one of its limits.
type reached struct{ choir.BudgetReached }

func (r *reached) Error() string {
	unit := map[string]string{
		"steps": "model calls", "tokens": "tokens", "time": "seconds of work", "cost": "US dollars", "tasks": "tasks",
	}[r.Limit]
	return fmt.Sprintf("the run's limit of %v %s is reached", r.Max, unit)
}

// check names the limit that another model call would exceed, if any.
func check(l choir.RunLimits, s spent, worked choir.Time) error {
	switch {
	case s.steps >= l.Steps:
		return over("steps", float64(l.Steps), float64(s.steps))
	case s.tokens >= l.Tokens:
		return over("tokens", float64(l.Tokens), float64(s.tokens))
	case s.cost >= l.CostUSD:
		return over("cost", l.CostUSD, s.cost)
	case worked >= choir.Time(l.Seconds)*1000:
		return over("time", float64(l.Seconds), float64(worked/1000))
	}
	return nil
}

func over(limit string, most, used float64) error {
	return &reached{choir.BudgetReached{Scope: "run", Limit: limit, Max: most, Used: used}}
}
