package computer

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// Difference is how the workspace differs between two moments.
type Difference struct {
	From, To choir.Digest
	Changes  []snapshot.Change
}

// Moment finds the snapshot of the workspace as it was after event seq; the
// present, as the log knows it, for zero.
func (c *Computer) Moment(ctx context.Context, seq uint64) (choir.Digest, error) {
	if seq == 0 {
		seq, _ = c.store.Head()
	}
	if err := c.mustBeInLog(seq); err != nil {
		return "", err
	}
	s, _, err := c.store.SnapshotAt(ctx, seq)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", choir.E("computer.moment", choir.CodeNotFound, "no snapshot was taken at or before event %d", seq)
	}
	return s.Snapshot, err
}

// Diff compares the workspace at two moments. It reads the store only.
func (c *Computer) Diff(ctx context.Context, from, to uint64) (Difference, error) {
	a, err := c.Moment(ctx, from)
	if err != nil {
		return Difference{}, err
	}
	b, err := c.Moment(ctx, to)
	if err != nil {
		return Difference{}, err
	}
	changes, err := snapshot.Diff(ctx, c.keeper, a, b)
	return Difference{From: a, To: b, Changes: changes}, err
}

// Rewind puts the workspace and the documents back to what they were after
// event seq, as a step forward. It is refused while a task runs. With dryRun it
// only says what would change.
func (c *Computer) Rewind(ctx context.Context, role choir.Role, seq uint64, dryRun bool) (Difference, choir.Receipt, error) {
	if seq == 0 {
		return Difference{}, choir.Receipt{}, choir.Invalid("to_seq", "must be an event's number, from 1")
	}
	target, err := c.Moment(ctx, seq)
	if err != nil {
		return Difference{}, choir.Receipt{}, err
	}
	unlock, err := c.lockTree(ctx)
	if err != nil {
		return Difference{}, choir.Receipt{}, err
	}
	defer unlock()
	// Asked with the tree held, so that no task can begin after it.
	if err := c.mustBeIdle(ctx); err != nil && !dryRun {
		return Difference{}, choir.Receipt{}, err
	}
	now, client, err := c.scan(ctx)
	if err != nil {
		return Difference{}, choir.Receipt{}, err
	}
	d := Difference{From: now.Root, To: target}
	if d.Changes, err = snapshot.Diff(ctx, c.keeper, now.Root, target); err != nil || dryRun {
		return d, choir.Receipt{}, err
	}
	// What nobody recorded yet is recorded first, so that this can be undone.
	if err := c.recordFor(ctx, now, "rewind", nil); err != nil {
		return d, choir.Receipt{}, err
	}
	if _, err := client.Restore(ctx, target, c.keeper, guest.RestoreOptions{}); err != nil {
		return d, choir.Receipt{}, err
	}
	r, err := c.append(ctx, role, choir.TimelineRewound{ToSeq: seq, Snapshot: target, Before: now.Root, Files: int64(len(d.Changes))})
	if err != nil {
		return d, choir.Receipt{}, err
	}
	return d, r[0], nil
}
