package computer

import (
	"context"
	"time"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/timeline"
)

// Collected says what a collection removed, or would remove.
type Collected struct {
	Moments int   `json:"moments" doc:"Snapshots of tool calls that were let go."`
	Kept    int   `json:"kept" doc:"Objects that something leads to, or that are fresh."`
	Removed int   `json:"removed" doc:"Objects that were removed."`
	Bytes   int64 `json:"bytes" doc:"Bytes of what was removed."`
	DryRun  bool  `json:"dry_run,omitempty"`
}

// fresh is how old an object is at least before it is removed: what is put has no
// event yet.
const fresh = 24 * time.Hour

// Collect removes content that no event leads to any more. The snapshots of tool
// calls older than keep are let go first, except the last of them; those where a
// task began or ended, checkpoints, and all that a person did stay, and every
// event stays. With dryRun it only says what it would remove.
func (c *Computer) Collect(ctx context.Context, keep time.Duration, dryRun bool) (Collected, error) {
	return c.collect(ctx, c.cfg.Now(), keep, dryRun)
}

func (c *Computer) collect(ctx context.Context, now time.Time, keep time.Duration, dryRun bool) (Collected, error) {
	out := Collected{DryRun: dryRun}
	store, ok := c.blobs.(blob.Collector)
	if !ok {
		return out, choir.E("computer.collect", choir.CodeUnavailable, "this store of blobs cannot remove anything")
	}
	// Whoever looks at the tree relies on what is there.
	unlock, err := c.workspace.Lock(ctx)
	if err != nil {
		return out, err
	}
	defer unlock()
	c.collecting.Lock()
	defer c.collecting.Unlock()
	if c.exporting.Load() > 0 {
		return out, choir.E("computer.collect", choir.CodeBusy, "the computer is being exported").WithRemedy("try again once the export is written")
	}
	if unfinished, err := c.workspace.UnfinishedIntent(); err != nil || unfinished {
		return out, errorsJoin(choir.E("computer.collect", choir.CodeConflict, "the workspace is still to become what was wanted").WithRemedy("start choir again, which finishes it"), err)
	}
	needed, err := c.needed(ctx, choir.TimeOf(now.Add(-keep)), &out)
	if err != nil {
		return out, err
	}
	defer c.keeper.Forget()
	limit := now.Add(-fresh)
	return out, store.Each(ctx, func(b blob.Info) error {
		if needed[b.Digest] || !b.Put.Before(limit) {
			out.Kept++
			return nil
		}
		gone := dryRun
		if !dryRun {
			var err error
			if gone, err = store.Remove(ctx, b.Digest, limit); err != nil {
				return err
			}
		}
		if gone {
			out.Removed++
			out.Bytes += b.Size
		}
		return nil
	})
}

// needed is what the log leads to without the moments that are let go.
func (c *Computer) needed(ctx context.Context, before choir.Time, out *Collected) (map[choir.Digest]bool, error) {
	head, _ := c.store.Head()
	let, err := c.oldCalls(ctx, head, before)
	if err != nil {
		return nil, err
	}
	out.Moments = len(let)
	reached, err := timeline.ReachWithout(ctx, c.store, c.keeper, head, func(e *choir.Event) bool {
		switch e.Type {
		case choir.TypeSnapshotTaken:
			return let[e.Seq] != ""
		case choir.TypeFileWritten, choir.TypeFileRemoved:
			return true // the snapshot that ends them leads to the same
		}
		return false
	})
	needed := make(map[choir.Digest]bool, len(reached.Digests))
	for _, d := range reached.Digests {
		needed[d] = true
	}
	return needed, err
}

// oldCalls are the snapshots of tool calls from before a time, by event, but for
// the last.
func (c *Computer) oldCalls(ctx context.Context, head uint64, before choir.Time) (map[uint64]choir.Digest, error) {
	let := map[uint64]choir.Digest{}
	last := uint64(0)
	for e, err := range c.store.Events(ctx, 1, head) {
		if err != nil {
			return nil, err
		}
		if e.Type != choir.TypeSnapshotTaken || e.Time >= before {
			continue
		}
		p, err := choir.ReadPayload(e.Type, e.Payload)
		if err != nil {
			return nil, err
		}
		if taken := p.(*choir.SnapshotTaken); taken.Reason == "tool_called" || taken.Reason == "tool_returned" {
			let[e.Seq], last = taken.Snapshot, e.Seq
		}
	}
	delete(let, last)
	return let, nil
}
