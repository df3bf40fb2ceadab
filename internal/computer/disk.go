package computer

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// restoreTree restores a snapshot, or paths of it. Meanwhile the workspace may take
// twice its disk limit: a full one has no room for what is restored until what it
// replaces is gone, and a rewind is how it is emptied.
func (c *Computer) restoreTree(ctx context.Context, client *guest.Client, root choir.Digest, opts guest.RestoreOptions) (snapshot.RestoreResult, error) {
	narrow, err := c.cfg.Disk.Widen()
	if err != nil {
		return snapshot.RestoreResult{}, err
	}
	done, err := client.Restore(ctx, root, c.keeper, opts)
	return done, errorsJoin(err, narrow())
}
