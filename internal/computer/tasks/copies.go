package tasks

import (
	"context"
	"slices"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/computer/workspace"
	"choiros/internal/eventstore"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// copyTree scans the copies in which tasks work, and looks up what the trees have of which they
// are copies; see Tree and Record.
type copyTree interface {
	ScanWorktree(ctx context.Context, task choir.ID) (snapshot.Result, *guest.Client, error)
	Without(ctx context.Context, root choir.Digest, paths []string) (choir.Digest, error)
	Lookup(ctx context.Context, root choir.Digest, path string) (*snapshot.Entry, error)
}

// copies finds out what tasks changed in their copies, and changes the copies.
type copies struct {
	keeper *snapshot.Keeper
	tree   copyTree
}

// worktreeChanges scans the worktree of a task and returns the changes that the task made
// there, and the tree with them; with inGit also those in .git folders. Paths that snapshots
// leave out and of linked packages are none.
func (k *copies) worktreeChanges(ctx context.Context, t *eventstore.Task, inGit bool) (before choir.Digest, now snapshot.Result, changes []snapshot.Change, err error) {
	if now, _, err = k.tree.ScanWorktree(ctx, t.ID); err != nil {
		return "", now, nil, err
	}
	if before, err = k.tree.Without(ctx, t.Worktree, now.Left); err != nil {
		return "", now, nil, err
	}
	all, err := snapshot.Diff(ctx, k.keeper, before, now.Root)
	if err != nil {
		return "", now, nil, err
	}
	changes, err = k.inCopy(ctx, t, all, func(path string) bool { return inGit || !workspace.InGit(path) })
	return before, now, changes, err
}

// inCopy returns the changes of a task's copy, or between it and the workspace, that are of what
// was copied there, at paths that want reports. Changes of times and of folders that stay are none,
// nor is how a repository there finds its objects.
func (k *copies) inCopy(ctx context.Context, t *eventstore.Task, all []snapshot.Change, want func(path string) bool) (changes []snapshot.Change, err error) {
	project := copiedScope(t)
	above, err := k.isInRepositoryAbove(ctx, t)
	if err != nil {
		return nil, err
	}
	var linked []string
	for _, ch := range snapshot.Apart(all) {
		isFolder := workspace.IsFolder(ch.Before) && workspace.IsFolder(ch.After)
		inAbove := above && workspace.Below(ch.Path, []string{".git"})
		if ch.Path == "" || !project.Holds(ch.Path) && !inAbove || isFolder || ch.TimeOnly() || !want(ch.Path) || workspace.Below(ch.Path, linked) {
			continue
		}
		if strings.HasSuffix(ch.Path, ".git/objects/info/alternates") || t.Task.Worktree && isUncopied(ch.Path) {
			continue
		}
		isLink, err := k.isLinked(ctx, t, &ch)
		if err != nil {
			return nil, err
		}
		if isLink {
			linked = append(linked, ch.Path)
			continue
		}
		changes = append(changes, ch)
	}
	return changes, nil
}

// isInRepositoryAbove reports whether the project of a task has no repository of its own, so that
// its copy has the workspace's.
func (k *copies) isInRepositoryAbove(ctx context.Context, t *eventstore.Task) (bool, error) {
	if t.Task.Repo == "" {
		return false, nil
	}
	own, err := k.tree.Lookup(ctx, t.Base, "workspace/"+t.Task.Repo+"/.git")
	return own == nil, err
}

// isLinked reports whether a change is of a folder of the project that the copy has as a link.
func (k *copies) isLinked(ctx context.Context, t *eventstore.Task, ch *snapshot.Change) (bool, error) {
	if !t.Task.Worktree || ch.Before == nil || ch.Before.Kind != snapshot.Symlink {
		return false, nil
	}
	was, err := k.tree.Lookup(ctx, t.Base, ch.Path)
	return was == nil || was.Kind != snapshot.Symlink, err
}

// worktreeNow returns the base of a task with what the task changed in its worktree; in .git
// folders too, unless it asked for the worktree.
func (k *copies) worktreeNow(ctx context.Context, t *eventstore.Task) (choir.Digest, error) {
	_, now, changes, err := k.worktreeChanges(ctx, t, !t.Task.Worktree)
	if err != nil || len(changes) == 0 {
		return t.Base, err
	}
	return timeline.Graft(ctx, k.keeper, t.Base, now.Root, pathsOf(changes))
}

// rollbackWorktree restores the worktree of a task as it was when the task began, except for
// the paths in keep. A worktree that is gone is no error.
func (k *copies) rollbackWorktree(ctx context.Context, t *eventstore.Task, keep []string) (choir.TaskRollbackReply, error) {
	now, client, err := k.tree.ScanWorktree(ctx, t.ID)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return choir.TaskRollbackReply{}, nil
	}
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	changes, err := snapshot.Diff(ctx, k.keeper, t.Worktree, now.Root)
	if err != nil {
		return choir.TaskRollbackReply{}, err
	}
	plan := snapshot.PlanRollback(changes, keep, nil)
	reply := choir.TaskRollbackReply{Restored: int64(len(plan.Restore))}
	if len(plan.Restore) > 0 {
		_, err = client.Restore(ctx, t.Worktree, k.keeper, guest.RestoreOptions{Only: plan.Restore, Narrow: true, Worktree: t.ID})
	}
	return reply, err
}

// mergeWorktree merges the changes of a task in its worktree into the tree ours, without
// the paths in left.
func (k *copies) mergeWorktree(ctx context.Context, t *eventstore.Task, ours choir.Digest, left []string) (timeline.Merged, error) {
	before, now, changes, err := k.worktreeChanges(ctx, t, false)
	if err != nil {
		return timeline.Merged{}, err
	}
	changes = withoutLeft(changes, left)
	theirs, err := timeline.Graft(ctx, k.keeper, before, now.Root, pathsOf(changes))
	if err != nil {
		return timeline.Merged{}, err
	}
	at := time.Now()
	return timeline.Merge(ctx, k.keeper, before, theirs, ours, snapshot.Stamp{Sec: at.Unix(), Nsec: uint32(at.Nanosecond())})
}

// offeredByCopy returns what a task changed in its copy, in .git folders too, as changes of its
// base, and the paths of that.
func (k *copies) offeredByCopy(ctx context.Context, t *eventstore.Task) (o Offered, paths []string, err error) {
	o = Offered{Task: *t, Snapshot: t.Base}
	_, now, changes, err := k.worktreeChanges(ctx, t, true)
	if err != nil || len(changes) == 0 {
		return o, nil, err
	}
	paths = pathsOf(changes)
	if o.Snapshot, err = timeline.Graft(ctx, k.keeper, t.Base, now.Root, paths); err != nil {
		return o, nil, err
	}
	all, err := snapshot.Diff(ctx, k.keeper, t.Base, o.Snapshot)
	o.Changes = slices.DeleteFunc(all, func(ch snapshot.Change) bool { return ch.Path == "" || ch.TimeOnly() })
	return o, paths, err
}

// graftCopied returns the tree base with what the tree from has of what a task's copy is of, and
// the paths at which that differed: with inGit also in .git folders, but for objects, which are
// found there.
func (k *copies) graftCopied(ctx context.Context, t *eventstore.Task, base, from choir.Digest, inGit bool) (choir.Digest, []string, error) {
	all, err := snapshot.Diff(ctx, k.keeper, base, from)
	if err != nil {
		return "", nil, err
	}
	changes, err := k.inCopy(ctx, t, all, func(path string) bool {
		return !strings.Contains(path+"/", ".git/objects/") && (inGit || !workspace.InGit(path))
	})
	if err != nil || len(changes) == 0 {
		return base, nil, err
	}
	paths := pathsOf(changes)
	tree, err := timeline.Graft(ctx, k.keeper, base, from, paths)
	return tree, paths, err
}

// restoreCopy makes a task's copy, which was scanned, the tree target.
func (k *copies) restoreCopy(ctx context.Context, t *eventstore.Task, now snapshot.Result, target choir.Digest) error {
	all, err := snapshot.Diff(ctx, k.keeper, now.Root, target)
	if err != nil {
		return err
	}
	paths := slices.DeleteFunc(pathsOf(snapshot.Apart(all)), func(path string) bool { return workspace.Below(path, now.Left) })
	if len(paths) == 0 {
		return nil
	}
	return k.restore(ctx, t, target, paths)
}

// isUncopied reports whether a path is or lies in a folder of packages, which are links in a
// worktree, or in a cache that is not copied there.
func isUncopied(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(name string) bool {
		return slices.Contains([]string{"node_modules", "__pycache__", ".pytest_cache", ".tox", ".mypy_cache"}, name)
	})
}

// copiedScope returns the part of the workspace that a task's copy is of.
func copiedScope(t *eventstore.Task) workspace.Scope {
	if t.Task.Repo == "" {
		return ""
	}
	return workspace.Scope("workspace/" + t.Task.Repo)
}

// restore restores paths of the tree target in a task's copy.
func (k *copies) restore(ctx context.Context, t *eventstore.Task, target choir.Digest, paths []string) error {
	_, client, err := k.tree.ScanWorktree(ctx, t.ID)
	if err == nil {
		_, err = client.Restore(ctx, target, k.keeper, guest.RestoreOptions{Only: paths, Narrow: true, Worktree: t.ID})
	}
	return err
}
