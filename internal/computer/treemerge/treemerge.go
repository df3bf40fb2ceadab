// Package treemerge merges what changed between two trees into the workspace of a
// computer: what an undo takes back, what another computer has, what a newer desktop
// brings. A merge is one step: it is in the log as one event, and a rewind takes it
// back.
//
// It reaches the tree by way of package workspace and knows neither driver nor bus.
package treemerge

import (
	"context"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/appender"
	"choiros/internal/computer/workspace"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// Log is the part of its computer's log that a Merger reads; eventstore.Store is one.
type Log interface {
	Head() (uint64, choir.Digest)
}

// Workspace is the tree that a Merger writes to; workspace.Workspace is one.
type Workspace interface {
	Lock(ctx context.Context) (unlock func(), err error)
	MustBeIdle(ctx context.Context) error
	Scan(ctx context.Context, only ...string) (snapshot.Result, *guest.Client, error)
	Without(ctx context.Context, root choir.Digest, paths []string) (choir.Digest, error)
	RecordOwners(ctx context.Context, now snapshot.Result) error
	CarryOut(ctx context.Context, client *guest.Client, in workspace.Intent) (choir.Receipt, error)
}

// Terminals are the terminals that people have open in the workspace.
type Terminals interface {
	// Stop ends all and lets none be opened until release; see terminals.Set.Stop.
	Stop(why choir.TerminalReason, words string) (ended int, release func())
	// Count returns how many are open.
	Count() int
}

// Merger merges changes into one workspace. Its methods may be called at once.
type Merger struct {
	log       Log
	events    *appender.Appender // appends to log
	workspace Workspace
	keeper    *snapshot.Keeper // of the workspace's trees
	terminals Terminals
	now       func() time.Time
}

// New makes the Merger of a computer's workspace. It reads log and appends with
// events, which must append to the same log.
func New(log Log, events *appender.Appender, workspace Workspace, keeper *snapshot.Keeper, terminals Terminals, now func() time.Time) *Merger {
	return &Merger{log: log, events: events, workspace: workspace, keeper: keeper, terminals: terminals, now: now}
}

// Step is the change between two trees, to be merged into the workspace.
type Step struct {
	// Base and Theirs are the trees before and after the change.
	Base, Theirs choir.Digest
	Reason       string // of the snapshot
	// Run and Task are those of the step's event; empty for none.
	Run, Task choir.ID
	// Exact takes each changed path as it is in Theirs, in .git folders too, in place of a merge.
	// Check must refuse a workspace that has other changes there.
	Exact bool
	// Check is called with the scan of the workspace just before the step, and its error stops
	// it; nil checks nothing.
	Check func(now snapshot.Result) error
	// Terminal is why terminals end, and Words are the last line of each.
	Terminal choir.TerminalReason
	Words    string
	// Record makes the event of the step from the trees before and after it, and the
	// number of files that it changed.
	Record func(before, now choir.Digest, files int64) choir.Payload
}

// Applied is the result of a step, or of a dry run.
type Applied struct {
	workspace.Difference
	// Conflicts are paths that were changed on both sides; with one, nothing was
	// done.
	Conflicts []timeline.Conflict
	Terminals int           // that it ends
	Receipt   choir.Receipt // none when there was nothing to do
	BackSeq   uint64        // the moment just before, to rewind to
}

// Apply merges the change of a step into the workspace. Code conflict: the workspace
// has other changes at the same paths, listed in Applied, or a task works. With dryRun
// it changes nothing and returns what would change.
func (m *Merger) Apply(ctx context.Context, role choir.Role, s Step, dryRun bool) (Applied, error) {
	unlock, err := m.workspace.Lock(ctx)
	if err != nil {
		return Applied{}, err
	}
	defer unlock()
	return m.ApplyHeld(ctx, role, s, dryRun)
}

// ApplyHeld is Apply for a caller that holds the tree.
func (m *Merger) ApplyHeld(ctx context.Context, role choir.Role, s Step, dryRun bool) (Applied, error) {
	if err := m.workspace.MustBeIdle(ctx); err != nil {
		return Applied{}, err
	}
	now, client, a, err := m.plan(ctx, s)
	if err != nil || len(a.Changes) == 0 {
		return a, err
	}
	if dryRun {
		a.Terminals = m.terminals.Count()
		return a, nil
	}
	ended, release := m.terminals.Stop(s.Terminal, s.Words)
	defer release()
	if ended > 0 {
		// What was written in them to the last moment counts too.
		now, client, a, err = m.plan(ctx, s)
		a.Terminals = ended
		if err != nil || len(a.Changes) == 0 {
			return a, err
		}
	}
	return m.carryOut(ctx, role, client, s, now, a)
}

// PlanHeld scans the workspace and returns the result that ApplyHeld would have. The
// caller holds the tree.
func (m *Merger) PlanHeld(ctx context.Context, s Step) (Applied, error) {
	_, _, a, err := m.plan(ctx, s)
	return a, err
}

// plan does the work of PlanHeld. It also returns the scan and the client that scanned.
func (m *Merger) plan(ctx context.Context, s Step) (now snapshot.Result, client *guest.Client, a Applied, err error) {
	if now, client, err = m.workspace.Scan(ctx); err != nil {
		return now, client, a, err
	}
	if s.Check != nil {
		if err := s.Check(now); err != nil {
			return now, client, a, err
		}
	}
	for _, root := range []*choir.Digest{&s.Base, &s.Theirs} {
		if *root, err = m.workspace.Without(ctx, *root, now.Left); err != nil {
			return now, client, a, err
		}
	}
	if s.Exact {
		a.Difference, err = m.graft(ctx, s, now.Root)
		return now, client, a, err
	}
	merged, err := m.Trees(ctx, s.Base, s.Theirs, now.Root)
	if err != nil {
		return now, client, a, err
	}
	a = Applied{Difference: workspace.Difference{From: now.Root, To: merged.Root, Changes: merged.Changes}, Conflicts: merged.Conflicts}
	return now, client, a, ConflictsError(merged.Conflicts)
}

// graft returns the difference that an exact step makes in the tree ours.
func (m *Merger) graft(ctx context.Context, s Step, ours choir.Digest) (workspace.Difference, error) {
	out := workspace.Difference{From: ours, To: ours}
	changes, err := snapshot.Diff(ctx, m.keeper, s.Base, s.Theirs)
	if err != nil {
		return out, err
	}
	var paths []string
	for _, ch := range snapshot.Apart(changes) {
		paths = append(paths, ch.Path)
	}
	if out.To, err = timeline.Graft(ctx, m.keeper, ours, s.Theirs, paths); err == nil {
		out.Changes, err = snapshot.Diff(ctx, m.keeper, ours, out.To)
	}
	return out, err
}

// Trees merges the changes between the trees base and theirs into the tree ours, see
// timeline.Merge. It does not read the workspace. New folders are dated with the
// current time in whole milliseconds.
func (m *Merger) Trees(ctx context.Context, base, theirs, ours choir.Digest) (timeline.Merged, error) {
	at := m.now()
	stamp := snapshot.Stamp{Sec: at.Unix(), Nsec: uint32(at.Nanosecond() / int(time.Millisecond) * int(time.Millisecond))}
	return timeline.Merge(ctx, m.keeper, base, theirs, ours, stamp)
}

func (m *Merger) carryOut(ctx context.Context, role choir.Role, client *guest.Client, s Step, now snapshot.Result, a Applied) (Applied, error) {
	// What nobody recorded yet is recorded first, so that this can be undone.
	if err := m.workspace.RecordOwners(ctx, now); err != nil {
		return a, err
	}
	a.BackSeq, _ = m.log.Head()
	done, err := m.events.Draft(s.Record(now.Root, a.To, workspace.CountShown(a.Changes)))
	if err == nil {
		a.Receipt, err = m.workspace.CarryOut(ctx, client, workspace.Intent{Before: now.Root, Target: a.To, Reason: s.Reason, Role: role, Draft: done.ForRun(s.Run, s.Task)})
	}
	return a, err
}

// maxNamed is the largest number of conflicting paths that the error names.
const maxNamed = 3

// ConflictsError returns an error with code conflict that names the conflicts; nil if
// there are none.
func ConflictsError(all []timeline.Conflict) error {
	if len(all) == 0 {
		return nil
	}
	var names []string
	for _, c := range all[:min(len(all), maxNamed)] {
		names = append(names, c.Path)
	}
	if more := len(all) - len(names); more > 0 {
		names = append(names, "and more")
	}
	return choir.Refuse("computer.apply", choir.ReasonChangedOnBothSides, choir.CountOf("n", len(all)), choir.TextOf("paths", strings.Join(names, ", ")))
}
