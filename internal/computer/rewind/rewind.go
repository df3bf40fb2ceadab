package rewind

import (
	"context"
	"errors"
	"slices"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// Rewound is the result of a rewind, or of a dry run.
type Rewound struct {
	workspace.Difference
	ToSeq     uint64     // the moment, which is never in the middle of one change
	Stopped   []choir.ID // runs that are stopped first
	Terminals int        // that it ends
	Receipt   choir.Receipt
	// Lacking are paths of then that did not come along when the computer was
	// forked or imported.
	Lacking []string
	// Left are paths that no snapshot holds and that stay as they are.
	Left []choir.LeftPath
	// Aside are paths that no snapshot holds and that were in the way: they lie in the
	// trash. Back are the paths from the trash that are where they were.
	Aside, Back []workspace.Aside
}

// Rewind restores files, documents, windows, theme and settings to their state after
// event seq, by new events. It first stops the running runs and records unrecorded
// changes. With dryRun it changes nothing and returns what would change.
func (r *Rewinder) Rewind(ctx context.Context, role choir.Role, seq uint64, dryRun bool) (Rewound, error) {
	if err := r.log.MustHave(seq); err != nil {
		return Rewound{}, choir.Under("to_seq", err)
	}
	seq, err := r.endOfChange(ctx, seq)
	if err != nil {
		return Rewound{}, err
	}
	target, lacking, err := r.moments.TreeLacking(ctx, seq)
	if err != nil {
		return Rewound{}, err
	}
	d := Rewound{ToSeq: seq, Difference: workspace.Difference{To: target}, Lacking: lacking}
	var unlock func()
	if dryRun {
		if d.Stopped, err = r.atWork(ctx); err == nil {
			unlock, err = r.workspace.Lock(ctx)
		}
	} else {
		d.Stopped, unlock, err = r.stopRuns(ctx, role, "the computer goes back to an earlier moment")
	}
	if err != nil {
		return d, err
	}
	defer unlock()
	if dryRun {
		d.Terminals = r.terminals.Count()
	} else {
		// What runs behind them knows a workspace that is about to be another.
		var release func()
		d.Terminals, release = r.terminals.Stop(choir.TerminalRewind, "The computer goes back to an earlier moment; this terminal has ended.")
		defer release()
	}
	return r.rewind(ctx, role, d, dryRun)
}

// rewind does the part of Rewind that needs the tree; the caller holds it.
func (r *Rewinder) rewind(ctx context.Context, role choir.Role, d Rewound, dryRun bool) (Rewound, error) {
	now, client, err := r.workspace.Scan(ctx)
	if err != nil {
		return d, err
	}
	d.From, d.Left = now.Root, now.Over
	way, err := r.workspace.InTheWay(ctx, d.To, now)
	if err == nil {
		d.Back, err = r.workspace.ThrownSince(ctx, d.ToSeq, now)
	}
	if err != nil {
		return d, err
	}
	if dryRun {
		return r.wouldRewind(ctx, d, now, way)
	}
	// What nobody recorded yet is recorded first, so that this can be undone.
	if err := r.workspace.RecordOwners(ctx, now); err != nil {
		return d, err
	}
	if d.Aside, err = r.workspace.MoveAside(ctx, client, way); err != nil {
		return d, err
	}
	in, err := r.planRewind(ctx, client, role, &d, now)
	if err != nil {
		return d, errors.Join(err, r.workspace.Revert(context.WithoutCancel(ctx), client, workspace.Intent{Before: now.Root, Out: d.Aside}))
	}
	d.Receipt, err = r.workspace.CarryOut(ctx, client, in)
	return d, err
}

// wouldRewind returns the result of a dry run. way lists the paths that are in the way.
func (r *Rewinder) wouldRewind(ctx context.Context, d Rewound, now snapshot.Result, way []string) (Rewound, error) {
	for _, path := range way {
		d.Aside = append(d.Aside, workspace.Aside{From: path})
	}
	stays := slices.DeleteFunc(slices.Clone(now.Left), func(path string) bool { return slices.Contains(way, path) })
	var err error
	if d.To, err = r.workspace.KeepNotes(ctx, d.To, now, d.Back); err == nil {
		d.To, err = r.workspace.Without(ctx, d.To, stays)
	}
	if err == nil {
		d.Changes, err = snapshot.Diff(ctx, r.keeper, now.Root, d.To)
	}
	return d, err
}

// planRewind returns the intent of a rewind, after the paths in its way were moved
// aside.
func (r *Rewinder) planRewind(ctx context.Context, client *guest.Client, role choir.Role, d *Rewound, before snapshot.Result) (workspace.Intent, error) {
	now := before
	var err error
	if len(d.Aside) > 0 {
		if now, err = r.workspace.ScanWith(ctx, client, nil); err != nil {
			return workspace.Intent{}, err
		}
		d.Left = now.Over
	}
	if d.To, err = r.workspace.KeepNotes(ctx, d.To, now, d.Back); err == nil {
		d.To, err = r.workspace.Without(ctx, d.To, now.Left)
	}
	if err == nil {
		d.Changes, err = snapshot.Diff(ctx, r.keeper, before.Root, d.To)
	}
	if err != nil {
		return workspace.Intent{}, err
	}
	done, err := r.events.Draft(choir.TimelineRewound{ToSeq: d.ToSeq, Snapshot: d.To, Before: before.Root, Files: workspace.CountShown(d.Changes)})
	return workspace.Intent{Before: before.Root, Target: d.To, Role: role, Draft: done, Lacking: d.Lacking, Out: d.Aside, Back: d.Back}, err
}

// maxScanEvents is the largest number of events that one scan of the tree appends.
const maxScanEvents = 1000

// endOfChange returns the number of the event that completes the change to which event
// seq belongs: the events of one scan belong together and end with a snapshot.taken.
// For a seq before the first scan of a new workspace it returns the event of that scan.
func (r *Rewinder) endOfChange(ctx context.Context, seq uint64) (uint64, error) {
	first, at, err := r.log.FirstSnapshot(ctx)
	if err != nil || seq < at && first.Reason == workspace.ReasonCreated {
		return max(seq, at), err
	}
	for e, err := range r.log.Events(ctx, seq, seq+maxScanEvents) {
		switch {
		case err != nil:
			return seq, err
		case e.Type == choir.TypeSnapshotTaken:
			return e.Seq, nil
		case e.Seq == seq && e.Type != choir.TypeFileWritten && e.Type != choir.TypeFileRemoved:
			return seq, nil
		}
	}
	return seq, nil
}
