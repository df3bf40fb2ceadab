package conductor

import (
	"fmt"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// spent is the usage of a run so far.
type spent struct {
	steps, tasks int
	tokens       int64
	cost         float64
}

// addCall adds the usage of a model call.
func (s *spent) addCall(u model.Usage) {
	s.steps++
	s.tokens += u.Input + u.Output
	s.cost += u.CostUSD
}

// addTask adds the usage of a task.
func (s *spent) addTask(u choir.TaskUsage) {
	s.tokens += u.InputTokens + u.OutputTokens
	s.cost += u.CostUSD
}

// reached is the error of a run that reached one of its limits.
type reached struct{ choir.BudgetReached }

func (r *reached) Error() string {
	unit := map[string]string{
		"steps": "model calls", "tokens": "tokens", "time": "seconds of work", "cost": "US dollars", "tasks": "tasks",
	}[r.Limit]
	return fmt.Sprintf("the run's limit of %v %s is reached", r.Max, unit)
}

// checkLimits returns the error of the limit that prevents another model call; nil if
// none does. worked is in milliseconds.
func checkLimits(l choir.RunLimits, s spent, worked choir.Time) error {
	switch {
	case s.steps >= l.Steps:
		return limitError("steps", float64(l.Steps), float64(s.steps))
	case s.tokens >= l.Tokens:
		return limitError("tokens", float64(l.Tokens), float64(s.tokens))
	case s.cost >= l.CostUSD:
		return limitError("cost", l.CostUSD, s.cost)
	case worked >= choir.Time(l.Seconds)*1000:
		return limitError("time", float64(l.Seconds), float64(worked/1000))
	}
	return nil
}

// limitError returns the error for a reached limit of the run.
func limitError(limit string, most, used float64) error {
	return &reached{choir.BudgetReached{Scope: "run", Limit: limit, Max: most, Used: used}}
}
