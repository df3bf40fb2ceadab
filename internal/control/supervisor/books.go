package supervisor

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/computer"
	"choiros/internal/control/modelgw"
	"choiros/internal/eventstore"
)

// books are what a computer's log says of its spending. A fork's log has the
// calls of its past too, and they count.
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

func usedOf(u eventstore.Usage, err error) (modelgw.Used, error) {
	return modelgw.Used{Calls: u.Calls, Tokens: u.InputTokens + u.OutputTokens, CostUSD: u.CostUSD}, err
}

// workOf finds the task that programs in the Associate's sandbox work for, and
// what it lets them spend.
func workOf(ctx context.Context, c *computer.Computer) (modelgw.Work, error) {
	run, task := c.Roles().Running(ctx)
	if task == "" {
		return modelgw.Work{}, nil
	}
	t, err := c.Store().Task(ctx, task)
	return modelgw.Work{Run: run, Task: task, Allowed: t.Task.ModelBudget}, err
}
