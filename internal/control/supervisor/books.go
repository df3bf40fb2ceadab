package supervisor

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/control/modelgw"
	"choiros/internal/eventstore"
)

// books reads the spending of a computer from its log. A fork's log contains the calls
// of its past, which count too.
type books struct{ c *computer.Computer }

// Spent implements modelgw.Books.
func (b books) Spent(ctx context.Context, run choir.ID) (modelgw.Used, error) {
	return usedOf(b.c.Store().Usage(ctx, run))
}

// BegunByDesktop implements modelgw.Books.
func (b books) BegunByDesktop(ctx context.Context, run choir.ID) (bool, error) {
	return b.c.Runs().BegunByDesktop(ctx, run)
}

// SpentByDesktop implements modelgw.Books.
func (b books) SpentByDesktop(ctx context.Context) (modelgw.Used, error) {
	return usedOf(b.c.Runs().SpentByDesktop(ctx, modelgw.DesktopSpan))
}

// Unreturned implements modelgw.Books.
func (b books) Unreturned(ctx context.Context) ([]choir.Event, error) {
	return b.c.Session().UnreturnedCalls(ctx)
}

// usedOf converts a usage of the log into one of the model gateway, and passes err on.
func usedOf(u eventstore.Usage, err error) (modelgw.Used, error) {
	return modelgw.Used{Calls: u.Calls, Tokens: u.InputTokens + u.OutputTokens, CostUSD: u.CostUSD}, err
}

// workOf returns the run, the task and the task's model budget of the program that sent
// a request at the egress door; empty if no task is in progress. ctx is the request's.
func workOf(ctx context.Context, c *computer.Computer) (modelgw.Work, error) {
	on, err := c.Roles().WorkingOn(ctx)
	if err != nil || on.Task == "" {
		return modelgw.Work{}, err
	}
	t, err := c.Store().Task(ctx, on.Task)
	return modelgw.Work{Run: on.Run, Task: on.Task, Allowed: t.Task.ModelBudget}, err
}
