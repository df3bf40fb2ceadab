package computer

import (
	"cmp"
	"context"
	"time"
)

// autoCollect collects once a day, when no task has anything to do. It is a
// service.
type autoCollect struct{ c *Computer }

func (autoCollect) String() string { return "collection" }

// Serve collects until the context ends.
func (a autoCollect) Serve(ctx context.Context) error {
	if a.c.cfg.KeepCalls <= 0 {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(cmp.Or(a.c.cfg.Patience.Collect, 24*time.Hour))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		open, err := a.c.store.OpenTasks(ctx)
		if err != nil {
			return ended(err)
		}
		if len(open) > 0 {
			continue
		}
		got, err := a.c.Collect(ctx, a.c.cfg.KeepCalls, false)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			a.c.cfg.Log.Warn("nothing was collected", "computer", a.c.cfg.ID, "error", err)
		case got.Removed > 0:
			a.c.cfg.Log.Info("collected", "computer", a.c.cfg.ID, "moments", got.Moments, "objects", got.Removed, "bytes", got.Bytes)
		}
	}
}
