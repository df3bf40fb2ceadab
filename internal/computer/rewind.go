package computer

import (
	"context"
	"slices"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// Moment finds the snapshot of the workspace as it was after event seq; the
// present, as the log knows it, for zero.
func (c *Computer) Moment(ctx context.Context, seq uint64) (choir.Digest, error) {
	root, _, err := c.moment(ctx, seq)
	return root, err
}

// moment is Moment, with the paths that did not come along when the computer was
// forked or imported.
func (c *Computer) moment(ctx context.Context, seq uint64) (root choir.Digest, lacking []string, err error) {
	if seq == 0 {
		seq, _ = c.store.Head()
	}
	if err := c.store.MustHave(seq); err != nil {
		return "", nil, err
	}
	s, _, err := c.store.SnapshotAt(ctx, seq)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return "", nil, choir.E("computer.moment", choir.CodeNotFound, "no snapshot was taken at or before event %d", seq)
	}
	if err != nil {
		return "", nil, err
	}
	return c.origin.Available(ctx, s.Snapshot)
}

// Diff compares the workspace at two moments. It reads the store only.
func (c *Computer) Diff(ctx context.Context, from, to uint64) (workspace.Difference, error) {
	a, err := c.Moment(ctx, from)
	if err != nil {
		return workspace.Difference{}, err
	}
	b, err := c.Moment(ctx, to)
	if err != nil {
		return workspace.Difference{}, err
	}
	changes, err := snapshot.Diff(ctx, c.keeper, a, b)
	return workspace.Difference{From: a, To: b, Changes: changes}, err
}

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
func (c *Computer) Rewind(ctx context.Context, role choir.Role, seq uint64, dryRun bool) (Rewound, error) {
	if err := c.store.MustHave(seq); err != nil {
		return Rewound{}, choir.Under("to_seq", err)
	}
	seq, err := c.whole(ctx, seq)
	if err != nil {
		return Rewound{}, err
	}
	target, lacking, err := c.moment(ctx, seq)
	if err != nil {
		return Rewound{}, err
	}
	r := Rewound{ToSeq: seq, Difference: workspace.Difference{To: target}, Lacking: lacking}
	var unlock func()
	if dryRun {
		if r.Stopped, err = c.atWork(ctx); err == nil {
			unlock, err = c.workspace.Lock(ctx)
		}
	} else {
		r.Stopped, unlock, err = c.standstill(ctx, role, "the computer goes back to an earlier moment")
	}
	if err != nil {
		return r, err
	}
	defer unlock()
	if dryRun {
		r.Terminals = c.roles.Terminals().Count()
	} else {
		// What runs behind them knows a workspace that is about to be another.
		var release func()
		r.Terminals, release = c.roles.Terminals().Stop(choir.TerminalRewind, "The computer goes back to an earlier moment; this terminal has ended.")
		defer release()
	}
	return c.rewind(ctx, role, r, dryRun)
}

// rewind is the part of Rewind that holds the tree.
func (c *Computer) rewind(ctx context.Context, role choir.Role, r Rewound, dryRun bool) (Rewound, error) {
	now, client, err := c.workspace.Scan(ctx)
	if err != nil {
		return r, err
	}
	r.From, r.Left = now.Root, now.Over
	way, err := c.workspace.InTheWay(ctx, r.To, now)
	if err == nil {
		r.Back, err = c.workspace.ThrownSince(ctx, r.ToSeq, now)
	}
	if err != nil {
		return r, err
	}
	if dryRun {
		return c.wouldRewind(ctx, r, now, way)
	}
	// What nobody recorded yet is recorded first, so that this can be undone.
	if err := c.workspace.RecordOwners(ctx, now); err != nil {
		return r, err
	}
	if r.Aside, err = c.workspace.MoveAside(ctx, client, way); err != nil {
		return r, err
	}
	in, err := c.planRewind(ctx, client, role, &r, now)
	if err != nil {
		return r, errorsJoin(err, c.workspace.Revert(context.WithoutCancel(ctx), client, workspace.Intent{Before: now.Root, Out: r.Aside}))
	}
	r.Receipt, err = c.workspace.CarryOut(ctx, client, in)
	return r, err
}

// wouldRewind says what a rewind would do.
func (c *Computer) wouldRewind(ctx context.Context, r Rewound, now snapshot.Result, way []string) (Rewound, error) {
	for _, path := range way {
		r.Aside = append(r.Aside, workspace.Aside{From: path})
	}
	stays := slices.DeleteFunc(slices.Clone(now.Left), func(path string) bool { return slices.Contains(way, path) })
	var err error
	if r.To, err = c.workspace.KeepNotes(ctx, r.To, now, r.Back); err == nil {
		r.To, err = c.workspace.Without(ctx, r.To, stays)
	}
	if err == nil {
		r.Changes, err = snapshot.Diff(ctx, c.keeper, now.Root, r.To)
	}
	return r, err
}

// planRewind is the intent of a rewind once nothing is in its way.
func (c *Computer) planRewind(ctx context.Context, client *guest.Client, role choir.Role, r *Rewound, before snapshot.Result) (workspace.Intent, error) {
	now := before
	var err error
	if len(r.Aside) > 0 {
		if now, err = c.workspace.ScanWith(ctx, client, nil); err != nil {
			return workspace.Intent{}, err
		}
		r.Left = now.Over
	}
	if r.To, err = c.workspace.KeepNotes(ctx, r.To, now, r.Back); err == nil {
		r.To, err = c.workspace.Without(ctx, r.To, now.Left)
	}
	if err == nil {
		r.Changes, err = snapshot.Diff(ctx, c.keeper, before.Root, r.To)
	}
	if err != nil {
		return workspace.Intent{}, err
	}
	done, err := c.events.Draft(choir.TimelineRewound{ToSeq: r.ToSeq, Snapshot: r.To, Before: before.Root, Files: workspace.CountShown(r.Changes)})
	return workspace.Intent{Before: before.Root, Target: r.To, Role: role, Draft: done, Lacking: r.Lacking, Out: r.Aside, Back: r.Back}, err
}

// maxLook bounds the events that one look at the tree makes.
const maxLook = 1000

// whole is the moment at which the change is told that event seq is part of: the
// events of one look at the tree belong together, and the snapshot ends them. Before
// the first look at a new workspace, which may come behind a prompt, it is that look.
func (c *Computer) whole(ctx context.Context, seq uint64) (uint64, error) {
	first, at, err := c.store.FirstSnapshot(ctx)
	if err != nil || seq < at && first.Reason == workspace.ReasonCreated {
		return max(seq, at), err
	}
	for e, err := range c.store.Events(ctx, seq, seq+maxLook) {
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

// atWork lists the runs that plan or have a task.
func (c *Computer) atWork(ctx context.Context) ([]choir.ID, error) {
	var out []choir.ID
	seen := map[choir.ID]bool{}
	add := func(run choir.ID) {
		if !seen[run] {
			seen[run] = true
			out = append(out, run)
		}
	}
	tasks, err := c.store.OpenTasks(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		add(t.Run)
	}
	runs, err := c.store.OpenRuns(ctx)
	for _, r := range runs {
		if r.State != eventstore.RunWaiting {
			add(r.ID)
		}
	}
	return out, err
}

// How long runs that were told to stop may take: until their tasks returned,
// without which nothing goes on, and until they have ended, which a Director that
// does not run cannot say.
const (
	stopLimit = time.Minute
	endLimit  = 2 * time.Second
)

// standstill stops every run at work and returns with the tree held once no task
// works in it: later ones begin with what they find then.
func (c *Computer) standstill(ctx context.Context, role choir.Role, why string) (stopped []choir.ID, unlock func(), err error) {
	hard, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	soft, cancel := context.WithTimeout(hard, endLimit)
	defer cancel()
	defer c.workspace.Waiting()()
	for {
		head, _ := c.store.Head()
		runs, err := c.atWork(ctx)
		if err == nil {
			stopped, err = c.tellToStop(ctx, role, runs, stopped, why)
		}
		if err != nil {
			return stopped, nil, err
		}
		waiting := hard
		if len(runs) > 0 && soft.Err() == nil {
			waiting = soft
		} else if unlock, err := c.workspace.LockIdle(ctx); unlock != nil || err != nil {
			return stopped, unlock, err
		}
		if err := c.store.WaitPast(waiting, head); err != nil && ctx.Err() != nil {
			return stopped, nil, choir.Wrap("computer.rewind", choir.CodeCancelled, ctx.Err(), "ended")
		} else if hard.Err() != nil {
			return stopped, nil, choir.E("computer.rewind", choir.CodeTimeout, "a task did not stop within %s", stopLimit).
				WithRemedy("try again; choir doctor says whether its sandbox runs")
		} else if err != nil && soft.Err() == nil {
			return stopped, nil, err
		}
	}
}

// tellToStop stops the runs that were not told yet.
func (c *Computer) tellToStop(ctx context.Context, role choir.Role, runs, told []choir.ID, why string) ([]choir.ID, error) {
	for _, run := range runs {
		if slices.Contains(told, run) {
			continue
		}
		d, err := c.events.Draft(choir.RunCancelRequested{Reason: why})
		if err == nil {
			_, err = c.events.AppendAs(ctx, role, d.ForRun(run, ""))
		}
		if err != nil {
			return told, err
		}
		told = append(told, run)
	}
	return told, nil
}
