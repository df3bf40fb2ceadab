package runs

import (
	"context"
	"sync"
	"time"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// desktopRuns caches whether a desktop started a run.
type desktopRuns struct {
	mu    sync.Mutex // guards begun
	begun map[choir.ID]bool
}

// maxDesktopRuns is the maximal number of runs in the cache.
const maxDesktopRuns = 10_000

// BegunByDesktop reports whether a desktop started a run; false for an unknown run.
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

// SpentByDesktop returns the sum of the model usage of the runs that a desktop started
// within the last span.
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

// MayPrompt returns code budget if a prompt of the role would be refused for its cost. It
// is for callers that do other work before they prompt.
func (rs *Runs) MayPrompt(ctx context.Context, role choir.Role) error {
	if role != choir.RoleDesktop {
		return nil
	}
	return rs.desktopMayPrompt(ctx, "")
}

// desktopMayPrompt returns code budget if the runs started by desktops have used up their
// cost limit, unless the prompt with this key is already in the log.
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
	return choir.Refuse("computer.prompt", choir.ReasonDesktopBudget, choir.SecondsOf("span", rs.cfg.DesktopSpan), choir.DollarsOf("cost", sum.CostUSD), choir.DollarsOf("most", most))
}
