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

// Rewound says what a rewind did, or would do.
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
	// trash. Back are those that lay there and are where they were.
	Aside, Back []workspace.Aside
}

// Rewind puts files, documents, windows, theme and settings back to what they
// were after event seq, as a step forward. Runs at work are told and stopped
// first; what nobody recorded yet is recorded before. With dryRun it only says
// what would change.
func (r *Rewinder) Rewind(ctx context.Context, role choir.Role, seq uint64, dryRun bool) (Rewound, error) {
	if err := r.log.MustHave(seq); err != nil {
		return Rewound{}, choir.Under("to_seq", err)
	}
	seq, err := r.whole(ctx, seq)
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
		d.Stopped, unlock, err = r.standstill(ctx, role, "the computer goes back to an earlier moment")
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

// rewind is the part of Rewind that holds the tree.
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

// wouldRewind says what a rewind would do.
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

// planRewind is the intent of a rewind once nothing is in its way.
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

// maxLook bounds the events that one look at the tree makes.
const maxLook = 1000

// whole is the moment at which the change is told that event seq is part of: the
// events of one look at the tree belong together, and the snapshot ends them. Before
// the first look at a new workspace, which may come behind a prompt, it is that look.
func (r *Rewinder) whole(ctx context.Context, seq uint64) (uint64, error) {
	first, at, err := r.log.FirstSnapshot(ctx)
	if err != nil || seq < at && first.Reason == workspace.ReasonCreated {
		return max(seq, at), err
	}
	for e, err := range r.log.Events(ctx, seq, seq+maxLook) {
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
