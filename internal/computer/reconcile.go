package computer

import (
	"context"

	"choiros/internal/guest"
)

// reconcileAtStart brings workspace and log together when the Associate's sandbox has come
// up, before its role runs: an unfinished intent is finished, and what changed
// while no sandbox was there is recorded as the owner's, because nobody else was,
// unless the machine went down.
// Nobody else reaches the workspace before the sandbox is given out, not even
// those who hold the tree and wait for it.
func (c *Computer) reconcileAtStart(ctx context.Context, client *guest.Client, recovered bool) error {
	err := c.bringTogether(ctx, client, recovered)
	if err == nil {
		c.wentDown = false           // what changes from now on is somebody's
		c.workspace.ResumeRemoving() // the last session may have left something
	}
	return err
}

// bringTogether is reconcileAtStart without the memory of the machine going down.
func (c *Computer) bringTogether(ctx context.Context, client *guest.Client, recovered bool) error {
	defer c.collector.Pause()()
	if finished, err := c.workspace.FinishIntent(ctx, client); finished || err != nil {
		return err
	}
	if task, err := c.workspace.TaskAtWork(ctx); err != nil || task != nil || recovered {
		return err // what a task left is the task's
	}
	now, err := c.workspace.ScanWith(ctx, client, nil)
	if err != nil {
		// Whoever is to mend what cannot be read needs the sandbox; the next look at
		// the tree says it again.
		if ctx.Err() == nil {
			c.cfg.Log.Warn("the workspace cannot be read", "computer", c.cfg.ID, "error", err)
		}
		return ctx.Err()
	}
	if c.wentDown {
		return c.putRight(ctx, client, now)
	}
	return c.workspace.RecordOwners(ctx, now)
}
