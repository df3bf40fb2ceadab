package selfsource

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/guest"
)

// MayRenew reports whether Renew may have to replace the source, according to the log.
func (s *Source) MayRenew(ctx context.Context) (bool, error) {
	state, err := s.state(ctx)
	return state.mayRenew(), err
}

// mayRenew reports whether the source is outdated and unchanged.
func (s state) mayRenew() bool { return s.outdated() && !s.changed() }

// Renew replaces an unchanged source by the version that this choir carries, after the
// Associate's sandbox has started and before it is used. It leaves a changed source
// alone, and a source in a workspace that a task was working in or that differs from
// the log. No collection may run meanwhile. It returns only the error of ctx, because
// the computer also works with the old source.
func (s *Source) Renew(ctx context.Context, client *guest.Client) error {
	in, err := s.renewal(ctx, client)
	if err != nil {
		// The computer works with the source it has, and the shell offers the upgrade.
		if ctx.Err() == nil {
			s.cfg.Logger.Warn("the desktop's source was not upgraded", "computer", s.cfg.Computer, "error", err)
		}
		return ctx.Err()
	}
	if in != nil {
		_, err = s.workspace.CarryOut(ctx, client, *in)
	}
	return err
}

// renewal returns the intent of Renew; nil if there is nothing to replace.
func (s *Source) renewal(ctx context.Context, client *guest.Client) (*workspace.Intent, error) {
	state, err := s.state(ctx)
	if err != nil || !state.mayRenew() {
		return nil, err
	}
	if task, err := s.workspace.TaskAtWork(ctx); err != nil || task != nil {
		return nil, err
	}
	last, err := s.workspace.LastSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	if now, err := s.workspace.ScanWith(ctx, client, nil); err != nil || now.Root != last {
		return nil, err
	}
	base, shipped, err := s.upgradeTrees(ctx, state)
	if err != nil {
		return nil, err
	}
	m, err := s.merger.Trees(ctx, base, shipped, last)
	if err != nil || len(m.Conflicts) > 0 {
		return nil, err
	}
	draft, err := s.events.Draft(s.upgradeEvent(shipped, last, m.Root, workspace.CountShown(m.Changes), nil))
	return &workspace.Intent{Before: last, Target: m.Root, Reason: "taken", Role: choir.RoleControl, Draft: draft}, err
}
