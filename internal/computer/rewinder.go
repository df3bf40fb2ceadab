package computer

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/computer/rewind"
	"choiros/internal/eventstore"
)

// newRewinder makes what takes back what happened to the computer.
func (c *Computer) newRewinder() *rewind.Rewinder {
	return rewind.New(c.store, c.events, c.moments, c.workspace, c.keeper, c.merger, c.roles.Terminals(), rewind.Config{
		Available: c.available, ReadOnly: c.reading,
		WrittenByOwner: func(ctx context.Context, t *eventstore.Task) ([]string, error) {
			return writtenByOwner(ctx, c.store, t)
		},
	})
}

// writtenByOwner lists the paths that the owner wrote while an answered task worked, and
// the task did not.
func writtenByOwner(ctx context.Context, log *eventstore.Store, t *eventstore.Task) ([]string, error) {
	w := writers{owner: map[string]choir.Digest{}, task: map[string]bool{}}
	for e, err := range log.Events(ctx, t.StartedSeq+1, t.ReturnedSeq) {
		if err == nil {
			err = w.take(&e, t.ID)
		}
		if err != nil {
			return nil, err
		}
	}
	return w.onlyOwner(), nil
}
