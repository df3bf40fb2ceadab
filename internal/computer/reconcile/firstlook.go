package reconcile

import (
	"context"

	"choiros/internal/guest"
)

// MayRewrite implements rolehost.Workspace: a look that has something to put right
// rewrites the workspace.
func (r *Reconciler) MayRewrite(ctx context.Context) (bool, error) {
	unfinished, err := r.workspace.UnfinishedIntent()
	if err != nil || unfinished || r.wentDown {
		return true, err
	}
	may, err := r.source.MayRenew(ctx)
	return err == nil && may, ctx.Err()
}

// FirstLook implements rolehost.Workspace. An unfinished intent is finished, and what
// changed while no sandbox was there is recorded as the owner's, because nobody else was,
// unless the machine went down. The desktop's source is renewed after that. Nobody else
// reaches the workspace before the look has ended, not even those who hold the tree and
// wait for it.
func (r *Reconciler) FirstLook(ctx context.Context, client *guest.Client, recovered bool) error {
	if err := r.reconcile(ctx, client, recovered); err != nil {
		return err
	}
	r.wentDown = false           // what changes from now on is somebody's
	r.workspace.ResumeRemoving() // the last session may have left something
	defer r.collector.Pause()()
	return r.source.Renew(ctx, client)
}

// reconcile is FirstLook without the desktop's source, and without forgetting that the
// machine went down.
func (r *Reconciler) reconcile(ctx context.Context, client *guest.Client, recovered bool) error {
	defer r.collector.Pause()()
	if finished, err := r.workspace.FinishIntent(ctx, client); finished || err != nil {
		return err
	}
	if task, err := r.workspace.TaskAtWork(ctx); err != nil || task != nil || recovered {
		return err // what a task left is the task's
	}
	now, err := r.workspace.ScanWith(ctx, client, nil)
	if err != nil {
		// Whoever is to mend what cannot be read needs the sandbox; the next look at
		// the tree says it again.
		if ctx.Err() == nil {
			r.cfg.Logger.Warn("the workspace cannot be read", "computer", r.cfg.Computer, "error", err)
		}
		return ctx.Err()
	}
	if r.wentDown {
		return r.putRight(ctx, client, now)
	}
	return r.workspace.RecordOwners(ctx, now)
}
