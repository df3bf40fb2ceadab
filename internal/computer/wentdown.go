package computer

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// wentDownSince reports whether the machine was started anew since a session
// that did not end.
func (c *Computer) wentDownSince(started *choir.Event) (bool, error) {
	p, err := choir.ReadPayload(started.Type, started.Payload)
	if err != nil {
		return false, choir.Wrap("computer.open", choir.CodeCorrupt, err, "event %d", started.Seq)
	}
	before := p.(*choir.SessionStarted).Boot
	return before != "" && c.cfg.Boot != "" && before != c.cfg.Boot, nil
}

// putRight makes the workspace what the log says after the machine went down:
// nobody waits until a workspace is on the disk, as its snapshots are, so what is
// found can be older than what was acknowledged, or torn. It is kept, as a
// moment to go back to. The sandbox is not given out yet.
func (c *Computer) putRight(ctx context.Context, client *guest.Client, found snapshot.Result) error {
	last, err := c.workspace.LastSnapshot(ctx)
	if err == nil && last != "" {
		last, err = c.workspace.Without(ctx, last, found.Left)
	}
	if err != nil || last == "" || last == found.Root {
		return err
	}
	then, _ := c.store.Head()
	changes, err := snapshot.Diff(ctx, c.keeper, found.Root, last)
	if err != nil {
		return err
	}
	kept, err := c.workspace.Record(ctx, found, "power_cut", false)
	if err == nil {
		err = c.workspace.AppendAll(ctx, choir.RoleControl, kept)
	}
	if err != nil {
		return err
	}
	done, err := c.events.Draft(choir.TimelineRewound{ToSeq: then, Snapshot: last, Before: found.Root, Files: workspace.CountShown(changes)})
	if err == nil {
		_, err = c.workspace.CarryOut(ctx, client, workspace.Intent{Before: found.Root, Target: last, Role: choir.RoleControl, Draft: done})
	}
	return err
}
