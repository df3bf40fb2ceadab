package computer

import (
	"context"
	"slices"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// desktopRuns remembers of runs whether a desktop began them.
type desktopRuns struct {
	mu    sync.Mutex // guards begun
	begun map[choir.ID]bool
}

// maxDesktopRuns bounds the runs that are remembered.
const maxDesktopRuns = 10_000

// BegunByDesktop reports whether a desktop began a run.
func (c *Computer) BegunByDesktop(ctx context.Context, run choir.ID) (bool, error) {
	c.desktopRuns.mu.Lock()
	begun, known := c.desktopRuns.begun[run]
	c.desktopRuns.mu.Unlock()
	if known {
		return begun, nil
	}
	first, err := choir.Collect(c.store.EventsOfRun(ctx, run, 0), 1)
	if err != nil || len(first) == 0 {
		return false, err
	}
	begun = first[0].Source == choir.SourceDesktop
	c.desktopRuns.mu.Lock()
	defer c.desktopRuns.mu.Unlock()
	if c.desktopRuns.begun == nil || len(c.desktopRuns.begun) >= maxDesktopRuns {
		c.desktopRuns.begun = map[choir.ID]bool{}
	}
	c.desktopRuns.begun[run] = begun
	return begun, nil
}

// SpentByDesktop sums what model calls cost in the runs that a desktop began
// within a span of time until now.
func (c *Computer) SpentByDesktop(ctx context.Context, span time.Duration) (eventstore.Usage, error) {
	var sum eventstore.Usage
	since := choir.TimeOf(c.cfg.Now().Add(-span))
	const page = 100
	for before := uint64(0); ; {
		runs, err := c.store.Runs(ctx, page, before)
		if err != nil {
			return sum, err
		}
		for _, r := range runs {
			if r.StartedAt < since {
				return sum, nil
			}
			begun, err := c.BegunByDesktop(ctx, r.ID)
			if err != nil {
				return sum, err
			}
			if begun {
				sum.Calls += r.Usage.Calls
				sum.InputTokens += r.Usage.InputTokens
				sum.OutputTokens += r.Usage.OutputTokens
				sum.CostUSD += r.Usage.CostUSD
			}
			before = r.FirstSeq
		}
		if len(runs) < page {
			return sum, nil
		}
	}
}

// MayPrompt refuses a role whose new prompts would be refused, code budget, for who
// has something else to do first.
func (c *Computer) MayPrompt(ctx context.Context, role choir.Role) error {
	if role != choir.RoleDesktop {
		return nil
	}
	return c.desktopMayPrompt(ctx, "")
}

// desktopMayPrompt refuses a prompt of the desktop when the runs that it began
// have used up their budget. A prompt that is in the log already stays accepted.
func (c *Computer) desktopMayPrompt(ctx context.Context, key choir.ID) error {
	most := c.cfg.DesktopCostUSD
	if most <= 0 {
		return nil
	}
	sum, err := c.SpentByDesktop(ctx, c.cfg.DesktopSpan)
	if err != nil || sum.CostUSD < most {
		return err
	}
	if _, err := c.store.Event(ctx, key); choir.CodeOf(err) != choir.CodeNotFound {
		return err
	}
	return choir.E("computer.prompt", choir.CodeBudget, "the runs that were begun on the desktop within %s have cost %.2f US dollars, and limits.desktop_cost_usd is %g",
		c.cfg.DesktopSpan, sum.CostUSD, most).
		WithRemedy("prompt under Runs in the top bar or with choir prompt, or raise limits.desktop_cost_usd in choir.toml")
}

// UnreturnedCalls lists the model.called that have no model.returned, of the
// session that the log ends in. It looks at nothing when that session ended in
// order, because then its gateway wrote the end of every call.
func (c *Computer) UnreturnedCalls(ctx context.Context) ([]choir.Event, error) {
	last, err := c.lastSessionEvent(ctx)
	if err != nil || last == nil || last.Type != choir.TypeSessionStarted {
		return nil, err
	}
	var open []choir.Event
	for e, err := range c.store.Events(ctx, last.Seq+1, 0) {
		if err != nil {
			return open, err
		}
		switch e.Type {
		case choir.TypeModelCalled:
			open = append(open, e)
		case choir.TypeModelReturned:
			open = slices.DeleteFunc(open, func(called choir.Event) bool { return called.ID == e.Cause })
		}
	}
	return open, nil
}
