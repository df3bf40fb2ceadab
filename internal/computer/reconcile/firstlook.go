package reconcile

import (
	"context"

	"choiros/internal/guest"
)

// MayRewrite reports whether FirstLook may rewrite the workspace: to finish an intent, to
// restore it from the log, or to renew the desktop's source. It implements
// rolehost.Workspace.
func (r *Reconciler) MayRewrite(ctx context.Context) (bool, error) {
	unfinished, err := r.workspace.UnfinishedIntent()
	if err != nil || unfinished || r.machineWentDown {
		return true, err
	}
	may, err := r.source.MayRenew(ctx)
	return err == nil && may, ctx.Err()
}

// FirstLook brings workspace and log together before anybody else may use the sandbox; it
// implements rolehost.Workspace. It finishes an unfinished intent. Otherwise, unless the
// sandbox was recovered or a task is at work, it records the changes made without a
// sandbox as the owner's, or, after the machine went down, restores the workspace from
// the log. Then it renews the desktop's source.
func (r *Reconciler) FirstLook(ctx context.Context, client *guest.Client, recovered bool) error {
	recorded, err := r.reconcile(ctx, client, recovered)
	if err == nil && recorded {
		err = r.clearFetched()
	}
	if err != nil {
		return err
	}
	r.machineWentDown = false    // what changes from now on is somebody's
	r.workspace.ResumeRemoving() // the last session may have left something
	defer r.collector.Pause()()
	return r.source.Renew(ctx, client)
}

// reconcile is FirstLook without the desktop's source, and without forgetting that the
// machine went down. It reports whether the log has the tree now, which a task at work
// and a tree that cannot be read leave for later.
func (r *Reconciler) reconcile(ctx context.Context, client *guest.Client, recovered bool) (recorded bool, err error) {
	defer r.collector.Pause()()
	if finished, err := r.workspace.FinishIntent(ctx, client); finished || err != nil {
		return finished && err == nil, err
	}
	if task, err := r.workspace.TaskAtWork(ctx); err != nil || task != nil || recovered {
		return false, err // what a task left is the task's
	}
	now, err := r.workspace.ScanWith(ctx, client, nil)
	if err != nil {
		// Whoever is to mend what cannot be read needs the sandbox; the next look at
		// the tree says it again.
		if ctx.Err() == nil {
			r.cfg.Logger.Warn("the workspace cannot be read", "computer", r.cfg.Computer, "error", err)
		}
		return false, ctx.Err()
	}
	if r.machineWentDown {
		err = r.restoreFromLog(ctx, client, now)
	} else {
		err = r.workspace.RecordOwners(ctx, now)
	}
	return err == nil, err
}
