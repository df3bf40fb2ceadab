package copies

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// ForkPoint is a moment at which a fork can begin.
type ForkPoint struct {
	Seq      uint64
	Hash     choir.Digest
	Snapshot choir.Digest // the workspace without what is withheld; empty when it had none
	Withheld []string     // paths that look like keys
}

// FindFork returns the fork point after event seq, 0 for now. It first records
// unrecorded changes if the sandbox runs. Code not_found: the log has no such event.
func (c *Copier) FindFork(ctx context.Context, seq uint64) (ForkPoint, error) {
	head, _ := c.log.Head()
	switch {
	case seq > head:
		return ForkPoint{}, choir.Refuse("computer.fork", choir.ReasonNoEvent, choir.CountOf("event", seq), choir.CountOf("head", head))
	case seq == 0:
		if err := c.workspace.RecordNow(ctx); err != nil {
			return ForkPoint{}, err
		}
		seq, _ = c.log.Head()
	}
	return c.forkPoint(ctx, seq)
}

func (c *Copier) forkPoint(ctx context.Context, seq uint64) (ForkPoint, error) {
	e, err := c.log.At(ctx, seq)
	if err != nil {
		return ForkPoint{}, err
	}
	p := ForkPoint{Seq: seq, Hash: e.Hash}
	s, _, err := c.log.SnapshotAt(ctx, seq)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return p, nil
	}
	var lacking []string
	if err == nil {
		p.Snapshot, lacking, err = c.cfg.Available(ctx, s.Snapshot)
	}
	if err == nil {
		p.Snapshot, p.Withheld, err = timeline.WithoutKeys(ctx, c.keeper, p.Snapshot)
		p.Withheld = slices.Sorted(slices.Values(append(p.Withheld, lacking...)))
	}
	return p, choir.Wrap("computer.fork", "", err, "the workspace after event %d", seq)
}

// ForkInto creates in a new folder a computer with this one's log and content up to a
// fork point. Files are shared by hard links where possible.
func (c *Copier) ForkInto(ctx context.Context, p ForkPoint, to NewComputer) (err error) {
	defer c.collections.Pause()()
	reached, err := c.reach(ctx, p)
	if err != nil {
		return err
	}
	blobs, err := to.OpenBlobs(filepath.Join(to.Dir, "blobs"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, blob.Close(blobs)) }()
	if err := blob.Transfer(ctx, c.blobs, blobs, reached.Digests); err != nil {
		return err
	}
	if err := c.log.Share(ctx, to.Dir, p.Seq); err != nil {
		return err
	}
	first := choir.ComputerForked{From: c.cfg.Computer, Seq: p.Seq, Hash: p.Hash, Name: to.Name}
	return to.initLog(ctx, blobs, beginning{ForkPoint: p, first: first, why: "The run belongs to the computer it was forked from, and goes on there."})
}

// reach returns the content that a fork at p needs.
func (c *Copier) reach(ctx context.Context, p ForkPoint) (timeline.Reached, error) {
	reached, err := timeline.Reach(ctx, c.log, c.keeper, p.Seq)
	if err != nil || p.Snapshot == "" {
		return reached, err
	}
	tree, err := treeDigests(ctx, c.keeper, p.Snapshot)
	reached.Digests = slices.Compact(slices.Sorted(slices.Values(append(reached.Digests, tree...))))
	return reached, err
}

// treeDigests lists every object of a tree.
func treeDigests(ctx context.Context, keeper *snapshot.Keeper, root choir.Digest) ([]choir.Digest, error) {
	seen := map[choir.Digest]bool{}
	err := snapshot.Walk(ctx, keeper, root, func(_ string, e *snapshot.Entry) error {
		if d := e.Digest(); d != "" {
			seen[d] = true
		}
		return nil
	})
	out := make([]choir.Digest, 0, len(seen))
	for d := range seen {
		out = append(out, d)
	}
	return out, err
}
