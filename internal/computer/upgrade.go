package computer

import (
	"context"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/computer/treemerge"
	"choiros/internal/computer/workspace"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// SourceFate is what an upgrade does to a file of the desktop's source.
type SourceFate string

// The fates.
const (
	SourceUpdated  SourceFate = "updated"  // only the shipped one changed
	SourceMerged   SourceFate = "merged"   // both changed, in different lines
	SourceAdded    SourceFate = "added"    // it is new in the shipped source
	SourceRemoved  SourceFate = "removed"  // it is gone from the shipped source
	SourceKept     SourceFate = "kept"     // only the workspace's changed
	SourceConflict SourceFate = "conflict" // both changed the same place: it stays as it is
)

// SourceFile is one file of the desktop's source in an upgrade.
type SourceFile struct {
	Path string     `json:"path" doc:"Path below the workspace root."`
	Fate SourceFate `json:"fate" enum:"updated,merged,added,removed,kept,conflict" doc:"What becomes of it. One in conflict stays as it is."`
}

// Upgraded says what an upgrade of the desktop's source did, or would do.
type Upgraded struct {
	treemerge.Applied
	Files []SourceFile // by path; those that nobody changed are not among them
}

// UpgradeSource merges what changed between the source that the workspace's was
// made of and the one that this choir carries into the workspace's. Paths that
// both changed in the same place stay as they are. Code conflict when there is
// nothing to upgrade, and while a task works. With dryRun it only says what would
// change.
func (c *Computer) UpgradeSource(ctx context.Context, role choir.Role, dryRun bool) (Upgraded, error) {
	unlock, err := c.workspace.Lock(ctx)
	if err != nil {
		return Upgraded{}, err
	}
	defer unlock()
	state, err := c.sourceState(ctx)
	if err != nil {
		return Upgraded{}, err
	}
	if !state.outdated() {
		return Upgraded{}, choir.E("computer.upgrade", choir.CodeConflict, "the desktop's source is not older than the one in this choir")
	}
	if err := c.workspace.MustBeIdle(ctx); err != nil {
		return Upgraded{}, err
	}
	base, shipped, err := c.sourceSides(ctx, state)
	if err != nil {
		return Upgraded{}, err
	}
	return c.upgrade(ctx, role, base, shipped, dryRun)
}

// sourceSides are trees with nothing but a source: the one that the workspace's
// was made of, and the one in this choir.
func (c *Computer) sourceSides(ctx context.Context, s sourceState) (base, shipped choir.Digest, err error) {
	tree, _, err := c.available(ctx, s.tree)
	if err != nil {
		return "", "", err
	}
	if base, err = c.onlySource(ctx, tree); err != nil {
		return "", "", err
	}
	t, err := unpacked(c.cfg.Source)
	if err == nil {
		err = c.keep(ctx, t.root, t.objects)
	}
	return base, t.root, err
}

// onlySource is the tree without all but the desktop's source.
func (c *Computer) onlySource(ctx context.Context, root choir.Digest) (choir.Digest, error) {
	e, err := c.workspace.Lookup(ctx, root, Source)
	if err != nil {
		return "", err
	}
	if e == nil || e.Kind != snapshot.Dir {
		return "", choir.E("computer.upgrade", choir.CodeNotFound, "there is no folder %s", Source)
	}
	var t carried
	lone := t.folder(loneSource(e.Sum))
	return lone, c.keep(ctx, lone, t.objects)
}

// upgrade is UpgradeSource once the two sides are known. The caller holds the tree.
func (c *Computer) upgrade(ctx context.Context, role choir.Role, base, shipped choir.Digest, dryRun bool) (Upgraded, error) {
	s := treemerge.Step{
		Base: base, Theirs: shipped, Reason: "taken", Terminal: choir.TerminalTaken,
		Words: "The desktop's source was upgraded; this terminal has ended.",
	}
	conflicts, err := c.yield(ctx, &s)
	if err != nil {
		return Upgraded{}, err
	}
	s.Record = func(before, now choir.Digest, files int64) choir.Payload {
		return c.upgraded(shipped, before, now, files, conflicts)
	}
	a, err := c.merger.ApplyHeld(ctx, role, s, dryRun)
	a.Conflicts = append(a.Conflicts, conflicts...)
	if err != nil {
		return Upgraded{Applied: a}, err
	}
	if len(a.Changes) == 0 && !dryRun {
		// Nothing to write, and the next upgrade begins from here all the same.
		if a.Receipt, a.BackSeq, err = c.noteUpgrade(ctx, role, shipped, conflicts); err != nil {
			return Upgraded{Applied: a}, err
		}
	}
	ours, err := c.sourceChanges(ctx, base, a.From)
	return Upgraded{Applied: a, Files: fates(a.Changes, ours, a.Conflicts)}, err
}

// maxConflicts is how many paths the event of an upgrade names.
const maxConflicts = 256

func (c *Computer) upgraded(shipped, before, now choir.Digest, files int64, conflicts []timeline.Conflict) choir.DesktopUpgraded {
	p := choir.DesktopUpgraded{Version: c.cfg.Version, Base: shipped, Before: before, Snapshot: now, Files: files}
	for _, one := range conflicts[:min(len(conflicts), maxConflicts)] {
		p.Conflicts = append(p.Conflicts, one.Path)
	}
	return p
}

func (c *Computer) noteUpgrade(ctx context.Context, role choir.Role, shipped choir.Digest, conflicts []timeline.Conflict) (choir.Receipt, uint64, error) {
	now, err := c.workspace.LastSnapshot(ctx)
	if err != nil {
		return choir.Receipt{}, 0, err
	}
	back, _ := c.store.Head()
	receipts, err := c.events.Append(ctx, role, c.upgraded(shipped, now, now, 0, conflicts))
	if err != nil {
		return choir.Receipt{}, 0, err
	}
	return receipts[0], back, nil
}

// yield takes what conflicts with the workspace out of what the step applies, and
// gives it back. What was taken out can let another path through, or stand in
// its way, so it looks again until nothing conflicts.
func (c *Computer) yield(ctx context.Context, s *treemerge.Step) ([]timeline.Conflict, error) {
	var all []timeline.Conflict
	for {
		a, err := c.merger.PlanHeld(ctx, *s)
		if err == nil || len(a.Conflicts) == 0 {
			slices.SortFunc(all, func(x, y timeline.Conflict) int { return strings.Compare(x.Path, y.Path) })
			return all, err
		}
		changes, diffErr := snapshot.Diff(ctx, c.keeper, s.Base, s.Theirs)
		if diffErr != nil {
			return nil, diffErr
		}
		out := conflicting(snapshot.Apart(changes), a.Conflicts)
		if len(out) == 0 {
			return nil, err // none of the step's own changes: nothing to take out
		}
		if s.Theirs, err = timeline.Graft(ctx, c.keeper, s.Theirs, s.Base, out); err != nil {
			return nil, err
		}
		all = append(all, a.Conflicts...)
	}
}

// conflicting are the changed paths that conflicts are about, folders first: the
// path itself, and what is below one that is to become something else.
func conflicting(changes []snapshot.Change, conflicts []timeline.Conflict) []string {
	var paths []string
	for _, one := range conflicts {
		paths = append(paths, one.Path)
	}
	var out []string
	for i := range changes {
		if workspace.Below(changes[i].Path, paths) {
			out = append(out, changes[i].Path)
		}
	}
	return out
}

// sourceChanges is what the workspace has made of a source.
func (c *Computer) sourceChanges(ctx context.Context, base, root choir.Digest) ([]snapshot.Change, error) {
	ours, err := c.onlySource(ctx, root)
	if err != nil {
		return nil, err
	}
	return snapshot.Diff(ctx, c.keeper, base, ours)
}

// fates says what becomes of each file, from what the upgrade writes, what the
// workspace had changed, and what conflicts. Folders, and what was only touched,
// are left out.
func fates(written, ours []snapshot.Change, conflicts []timeline.Conflict) []SourceFile {
	fate := map[string]SourceFate{}
	for _, one := range snapshot.FileChanges(snapshot.Apart(ours)) {
		fate[one.Path] = SourceKept
	}
	for _, one := range snapshot.FileChanges(snapshot.Apart(written)) {
		switch {
		case one.Change == choir.ChangeAdded:
			fate[one.Path] = SourceAdded
		case one.Change == choir.ChangeDeleted:
			fate[one.Path] = SourceRemoved
		case fate[one.Path] == SourceKept:
			fate[one.Path] = SourceMerged
		default:
			fate[one.Path] = SourceUpdated
		}
	}
	for _, one := range conflicts {
		fate[one.Path] = SourceConflict
	}
	out := make([]SourceFile, 0, len(fate))
	for path, what := range fate {
		out = append(out, SourceFile{path, what})
	}
	slices.SortFunc(out, func(a, b SourceFile) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// renewSource replaces a source that nobody changed by the one in this choir,
// when the Associate's sandbox has come up and before it is given out. A source
// that was changed is left to the owner, as is one in a workspace that a task was
// at work in, or that changed under the log.
func (c *Computer) renewSource(ctx context.Context, client *guest.Client) error {
	c.collecting.RLock()
	defer c.collecting.RUnlock()
	in, err := c.renewal(ctx, client)
	if err != nil {
		// The computer works with the source it has, and the shell offers the upgrade.
		if ctx.Err() == nil {
			c.cfg.Log.Warn("the desktop's source was not upgraded", "computer", c.cfg.ID, "error", err)
		}
		return ctx.Err()
	}
	if in != nil {
		_, err = c.workspace.CarryOut(ctx, client, *in)
	}
	return err
}

// renewal is what renewSource has to do; nil is nothing.
func (c *Computer) renewal(ctx context.Context, client *guest.Client) (*workspace.Intent, error) {
	state, err := c.sourceState(ctx)
	if err != nil || !state.outdated() || state.changed() {
		return nil, err
	}
	if task, err := c.workspace.TaskAtWork(ctx); err != nil || task != nil {
		return nil, err
	}
	last, err := c.workspace.LastSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	if now, err := c.workspace.ScanWith(ctx, client, nil); err != nil || now.Root != last {
		return nil, err
	}
	base, shipped, err := c.sourceSides(ctx, state)
	if err != nil {
		return nil, err
	}
	m, err := c.merger.Trees(ctx, base, shipped, last)
	if err != nil || len(m.Conflicts) > 0 {
		return nil, err
	}
	draft, err := c.events.Draft(c.upgraded(shipped, last, m.Root, workspace.CountShown(m.Changes), nil))
	return &workspace.Intent{Before: last, Target: m.Root, Reason: "taken", Role: choir.RoleControl, Draft: draft}, err
}
