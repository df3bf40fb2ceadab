package egress

import (
	"context"

	"choiros/internal/choir"
)

// untold is a passage whose event the log did not take.
type untold struct {
	work Work
	is   choir.EgressPassed
}

// recordPassage appends the event of a passage that has ended. An event that the log does not take
// waits for recordUntold.
func (p *Proxy) recordPassage(ctx context.Context, work Work, e choir.EgressPassed) {
	if p.cfg.Log.RecordPassage(context.WithoutCancel(ctx), work, e) == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.untold = append(p.untold, untold{work, e}) // at most Limits.Open, since nothing follows
}

// recordUntold appends the events that the log did not take. It returns the error of the log if it
// still does not: what cannot be recorded must not go out.
func (p *Proxy) recordUntold(ctx context.Context) error {
	p.mu.Lock()
	none := len(p.untold) == 0
	p.mu.Unlock()
	if none {
		return nil
	}
	select {
	case p.telling <- struct{}{}:
		defer func() { <-p.telling }()
	case <-ctx.Done():
		return choir.Wrap("egress", choir.CodeCancelled, ctx.Err(), "wait for the log")
	}
	for {
		p.mu.Lock()
		if len(p.untold) == 0 {
			p.mu.Unlock()
			return nil
		}
		first := p.untold[0]
		p.mu.Unlock()
		if err := p.cfg.Log.RecordPassage(context.WithoutCancel(ctx), first.work, first.is); err != nil {
			return err
		}
		p.mu.Lock()
		p.untold = p.untold[1:] // others only add at the end
		p.mu.Unlock()
	}
}
