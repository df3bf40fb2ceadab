package computer

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/computer/selfsource"
)

// newSource makes the desktop's source of the computer.
func (c *Computer) newSource() *selfsource.Source {
	return selfsource.New(c.store, c.events, c.keeper, c.workspace, c.merger, selfsource.Config{
		Computer: c.cfg.ID, Archive: c.cfg.Source, Version: c.cfg.Version,
		Available: func(ctx context.Context, root choir.Digest) (choir.Digest, error) {
			left, _, err := c.available(ctx, root)
			return left, err
		},
		Running: func(ctx context.Context) choir.ID {
			run, _ := c.roles.Running(ctx)
			return run
		},
		Now: c.cfg.Now, Logger: c.cfg.Log,
	})
}
