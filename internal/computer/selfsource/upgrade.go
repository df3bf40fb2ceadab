package selfsource

import (
	"context"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/computer/treemerge"
	"choiros/internal/computer/workspace"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// SourceFate is the outcome of an upgrade for a file of the desktop's source.
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

// Upgraded is the result of an upgrade of the desktop's source, or of a dry run.
type Upgraded struct {
	treemerge.Applied
	Files []SourceFile // by path, without the files that nobody changed
}

// Upgrade merges the changes between the base of the workspace's source and this
// choir's source into the workspace's. Paths that both changed in the same place stay
// as they are. Code conflict: there is nothing to upgrade, or a task works. With dryRun
// it only returns the changes.
func (s *Source) Upgrade(ctx context.Context, role choir.Role, dryRun bool) (Upgraded, error) {
	unlock, err := s.workspace.Lock(ctx)
	if err != nil {
		return Upgraded{}, err
	}
	defer unlock()
	state, err := s.state(ctx)
	if err != nil {
		return Upgraded{}, err
	}
	if !state.outdated() {
		return Upgraded{}, choir.Refuse("computer.upgrade", choir.ReasonSourceNotOlder)
	}
	if err := s.workspace.MustBeIdle(ctx); err != nil {
		return Upgraded{}, err
	}
	base, shipped, err := s.upgradeTrees(ctx, state)
	if err != nil {
		return Upgraded{}, err
	}
	return s.upgrade(ctx, role, base, shipped, dryRun)
}

// upgradeTrees stores two trees that contain only a source, and returns them: the
// version the workspace's source is based on, and the version in this choir.
func (s *Source) upgradeTrees(ctx context.Context, of state) (base, shipped choir.Digest, err error) {
	tree, err := s.cfg.Available(ctx, of.tree)
	if err != nil {
		return "", "", err
	}
	if base, err = s.onlySource(ctx, tree); err != nil {
		return "", "", err
	}
	t, err := readArchive(s.cfg.Archive)
	if err == nil {
		err = s.storeTree(ctx, t.root, t.objects)
	}
	return base, t.root, err
}

// onlySource stores a tree that contains only the source folder of the tree root, and
// returns it. Code not_found: root has no source.
func (s *Source) onlySource(ctx context.Context, root choir.Digest) (choir.Digest, error) {
	e, err := s.workspace.Lookup(ctx, root, Folder)
	if err != nil {
		return "", err
	}
	if e == nil || e.Kind != snapshot.Dir {
		return "", choir.Refuse("computer.upgrade", choir.ReasonNoFolder, choir.TextOf("path", Folder))
	}
	var t carriedTree
	lone := t.addManifest(loneSource(e.Sum))
	return lone, s.storeTree(ctx, lone, t.objects)
}

// upgrade is Upgrade once the two sides are known. The caller holds the tree.
func (s *Source) upgrade(ctx context.Context, role choir.Role, base, shipped choir.Digest, dryRun bool) (Upgraded, error) {
	step := treemerge.Step{
		Base: base, Theirs: shipped, Reason: "taken", Terminal: choir.TerminalTaken,
		Words: "The desktop's source was upgraded; this terminal has ended.",
	}
	conflicts, err := s.leaveConflicts(ctx, &step)
	if err != nil {
		return Upgraded{}, err
	}
	step.Record = func(before, now choir.Digest, files int64) choir.Payload {
		return s.upgradeEvent(shipped, before, now, files, conflicts)
	}
	a, err := s.merger.ApplyHeld(ctx, role, step, dryRun)
	a.Conflicts = append(a.Conflicts, conflicts...)
	if err != nil {
		return Upgraded{Applied: a}, err
	}
	if len(a.Changes) == 0 && !dryRun {
		// Nothing to write, and the next upgrade begins from here all the same.
		if a.Receipt, a.BackSeq, err = s.recordUpgrade(ctx, role, shipped, conflicts); err != nil {
			return Upgraded{Applied: a}, err
		}
	}
	ours, err := s.changesSince(ctx, base, a.From)
	return Upgraded{Applied: a, Files: fates(a.Changes, ours, a.Conflicts)}, err
}

// maxConflicts is how many paths the event of an upgrade names.
const maxConflicts = 256

// upgradeEvent returns the desktop.upgraded payload.
func (s *Source) upgradeEvent(shipped, before, now choir.Digest, files int64, conflicts []timeline.Conflict) choir.DesktopUpgraded {
	p := choir.DesktopUpgraded{Version: s.cfg.Version, Base: shipped, Before: before, Snapshot: now, Files: files}
	for _, one := range conflicts[:min(len(conflicts), maxConflicts)] {
		p.Conflicts = append(p.Conflicts, one.Path)
	}
	return p
}

// recordUpgrade appends the event of an upgrade that changes no file.
func (s *Source) recordUpgrade(ctx context.Context, role choir.Role, shipped choir.Digest, conflicts []timeline.Conflict) (choir.Receipt, uint64, error) {
	now, err := s.workspace.LastSnapshot(ctx)
	if err != nil {
		return choir.Receipt{}, 0, err
	}
	back, _ := s.log.Head()
	receipts, err := s.events.Append(ctx, role, s.upgradeEvent(shipped, now, now, 0, conflicts))
	if err != nil {
		return choir.Receipt{}, 0, err
	}
	return receipts[0], back, nil
}

// leaveConflicts removes the paths that conflict with the workspace from the step, and
// returns the conflicts. Each removal can cause other conflicts, so it repeats until
// there are none.
func (s *Source) leaveConflicts(ctx context.Context, step *treemerge.Step) ([]timeline.Conflict, error) {
	var all []timeline.Conflict
	for {
		a, err := s.merger.PlanHeld(ctx, *step)
		if err == nil || len(a.Conflicts) == 0 {
			slices.SortFunc(all, func(x, y timeline.Conflict) int { return strings.Compare(x.Path, y.Path) })
			return all, err
		}
		changes, diffErr := snapshot.Diff(ctx, s.keeper, step.Base, step.Theirs)
		if diffErr != nil {
			return nil, diffErr
		}
		out := conflicting(snapshot.Apart(changes), a.Conflicts)
		if len(out) == 0 {
			return nil, err // none of the step's own changes: nothing to take out
		}
		if step.Theirs, err = timeline.Graft(ctx, s.keeper, step.Theirs, step.Base, out); err != nil {
			return nil, err
		}
		all = append(all, a.Conflicts...)
	}
}

// conflicting lists the changed paths that conflicts are about, folders first: the path
// itself, and everything below a path that is to become something else.
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

// changesSince lists the differences of the source in the tree root from the tree base.
func (s *Source) changesSince(ctx context.Context, base, root choir.Digest) ([]snapshot.Change, error) {
	ours, err := s.onlySource(ctx, root)
	if err != nil {
		return nil, err
	}
	return snapshot.Diff(ctx, s.keeper, base, ours)
}

// fates lists the outcome for each file, from the upgrade's writes, the workspace's
// changes, and the conflicts. Folders, and files that were only touched, are left out.
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
