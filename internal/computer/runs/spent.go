package runs

import (
	"context"
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
func (rs *Runs) BegunByDesktop(ctx context.Context, run choir.ID) (bool, error) {
	rs.desktop.mu.Lock()
	begun, known := rs.desktop.begun[run]
	rs.desktop.mu.Unlock()
	if known {
		return begun, nil
	}
	first, err := choir.Collect(rs.log.EventsOfRun(ctx, run, 0), 1)
	if err != nil || len(first) == 0 {
		return false, err
	}
	begun = first[0].Source == choir.SourceDesktop
	rs.desktop.mu.Lock()
	defer rs.desktop.mu.Unlock()
	if rs.desktop.begun == nil || len(rs.desktop.begun) >= maxDesktopRuns {
		rs.desktop.begun = map[choir.ID]bool{}
	}
	rs.desktop.begun[run] = begun
	return begun, nil
}

// SpentByDesktop sums what model calls cost in the runs that a desktop began
// within a span of time until now.
func (rs *Runs) SpentByDesktop(ctx context.Context, span time.Duration) (eventstore.Usage, error) {
	var sum eventstore.Usage
	since := choir.TimeOf(rs.cfg.Now().Add(-span))
	const page = 100
	for before := uint64(0); ; {
		runs, err := rs.log.Runs(ctx, page, before)
		if err != nil {
			return sum, err
		}
		for _, r := range runs {
			if r.StartedAt < since {
				return sum, nil
			}
			begun, err := rs.BegunByDesktop(ctx, r.ID)
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
func (rs *Runs) MayPrompt(ctx context.Context, role choir.Role) error {
	if role != choir.RoleDesktop {
		return nil
	}
	return rs.desktopMayPrompt(ctx, "")
}

// desktopMayPrompt refuses a prompt of the desktop when the runs that it began
// have used up their budget. A prompt that is in the log already stays accepted.
func (rs *Runs) desktopMayPrompt(ctx context.Context, key choir.ID) error {
	most := rs.cfg.DesktopCostUSD
	if most <= 0 {
		return nil
	}
	sum, err := rs.SpentByDesktop(ctx, rs.cfg.DesktopSpan)
	if err != nil || sum.CostUSD < most {
		return err
	}
	if _, err := rs.log.Event(ctx, key); choir.CodeOf(err) != choir.CodeNotFound {
		return err
	}
	return choir.E("computer.prompt", choir.CodeBudget, "the runs that were begun on the desktop within %s have cost %.2f US dollars, and limits.desktop_cost_usd is %g",
		rs.cfg.DesktopSpan, sum.CostUSD, most).
		WithRemedy("prompt under Runs in the top bar or with choir prompt, or raise limits.desktop_cost_usd in choir.toml")
}
