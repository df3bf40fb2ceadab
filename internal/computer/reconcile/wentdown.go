package reconcile

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// restoreFromLog restores the workspace to the newest snapshot in the log, after the
// machine went down. The workspace is not synced as its snapshots are, so the found tree
// may be older than the log, or torn. The found tree is recorded first, so that a rewind
// can go back to it.
func (r *Reconciler) restoreFromLog(ctx context.Context, client *guest.Client, found snapshot.Result) error {
	last, err := r.workspace.LastSnapshot(ctx)
	if err == nil && last != "" {
		last, err = r.workspace.Without(ctx, last, found.Left)
	}
	if err != nil || last == "" || last == found.Root {
		return err
	}
	then, _ := r.log.Head()
	changes, err := snapshot.Diff(ctx, r.keeper, found.Root, last)
	if err != nil {
		return err
	}
	done, err := r.events.Draft(choir.TimelineRewound{ToSeq: then, Snapshot: last, Before: found.Root, Files: workspace.CountShown(changes)})
	if err == nil {
		_, err = r.workspace.CarryOut(ctx, client, workspace.Intent{
			Before: found.Root, Found: "power_cut", Target: last, Role: choir.RoleControl, Draft: done, Lasting: true,
		})
	}
	return err
}
