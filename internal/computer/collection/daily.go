package collection

import (
	"cmp"
	"context"
	"errors"
	"time"

	"choiros/internal/eventstore"
)

// String names the service.
func (*Collector) String() string { return "collection" }

// Serve runs a collection at each interval of the Config, when no task is open, until
// the context ends. It is a service.
func (c *Collector) Serve(ctx context.Context) error {
	if c.cfg.KeepCalls <= 0 {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(cmp.Or(c.cfg.Every, 24*time.Hour))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		open, err := c.log.OpenTasks(ctx)
		if errors.Is(err, context.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(eventstore.Unheld(open)) > 0 {
			continue
		}
		got, err := c.Collect(ctx, c.cfg.KeepCalls, false)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			c.cfg.Logger.Warn("nothing was collected", "computer", c.cfg.Computer, "error", err)
		case got.Removed > 0:
			c.cfg.Logger.Info("collected", "computer", c.cfg.Computer, "moments", got.Moments, "objects", got.Removed, "bytes", got.Bytes)
		}
	}
}
