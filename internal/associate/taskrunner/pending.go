package taskrunner

import (
	"context"
	"errors"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"choiros/internal/associate/git"
	"choiros/internal/choir"
)

// committedState is a state of the repositories in which every change was committed. While their
// HEADs are unchanged, later changes are known from the snapshots and git need not scan
// the tree. The zero value has no snapshot.
type committedState struct {
	base     string // the folder below the workspace that was committed
	snapshot choir.Digest
	heads    map[string]string // repository to commit
}

// headsOf returns the HEAD commit of each repository of the workspace. ok is false if
// one cannot be read without starting git.
func headsOf(workspace string, repos []string) (map[string]string, bool) {
	heads := map[string]string{}
	for _, r := range repos {
		id, ok := git.Head(filepath.Join(workspace, r))
		if !ok {
			return nil, false
		}
		heads[r] = id
	}
	return heads, true
}

// holds reports whether the HEADs of the repositories are still those recorded in k.
func (k *committedState) holds(workspace string) bool {
	if k.snapshot == "" {
		return false
	}
	now, ok := headsOf(workspace, git.Repos(workspace, k.base))
	return ok && maps.Equal(now, k.heads)
}

// commits is the last committedState of a workspace, shared by its tasks.
type commits struct {
	mu   sync.Mutex // guards last, whose heads are never changed
	last committedState
}

// state returns the last state.
func (c *commits) state() committedState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// set replaces the state.
func (c *commits) set(to committedState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = to
}

// update records the HEADs of some repositories in the state, if it is still that of the
// snapshot.
func (c *commits) update(of choir.Digest, heads map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.snapshot != of {
		return
	}
	c.last.heads = maps.Clone(c.last.heads)
	maps.Copy(c.last.heads, heads)
}

// hasRules reports whether a path is a file of ignore rules. If one changes, other paths may differ
// from HEAD too.
func hasRules(p string) bool {
	return path.Base(p) == ".gitignore" || path.Base(p) == ".choirignore"
}

// below reports whether p lies below the folder dir.
func below(p, dir string) bool { return len(p) > len(dir) && p[:len(dir)] == dir && p[len(dir)] == '/' }

// pending lists the paths that may differ from HEAD, raw, below the workspace. A project
// in the workspace's repository is asked about with that, without the other projects' own.
// The error names the repositories that git cannot read, beside the paths of the others.
func (k *checkpoints) pending(ctx context.Context, by *committer, base string) ([]string, error) {
	repos := git.Repos(k.place.workspace, base)
	if k.sinceComplete && k.known.base == base && k.known.holds(k.place.workspace) && !slices.ContainsFunc(k.since, hasRules) {
		return slices.DeleteFunc(k.since, func(p string) bool { return base != "." && !below(p, base) }), nil
	}
	var paths []string
	var broken error
	if base == "." {
		var err error
		if paths, err = git.Unversioned(ctx, k.place.workspace); err != nil {
			return nil, err
		}
	}
	if base == "." && k.task.Repo != "" {
		repos = slices.DeleteFunc(repos, func(r string) bool { return r != "." })
	}
	for _, repo := range repos {
		more, err := by.git(repo).Pending(ctx, k.place.workspace, repo)
		if err != nil {
			broken = errors.Join(broken, choir.Wrap("git.status", choir.CodeInternal, err, "read %s", repo))
		}
		paths = append(paths, more...)
	}
	return paths, broken
}

// markCommitted records that every change below base is committed as of the
// snapshot at. It clears the record if the HEADs cannot be read.
func (k *checkpoints) markCommitted(base string, at choir.Digest) {
	var now committedState
	if heads, ok := headsOf(k.place.workspace, git.Repos(k.place.workspace, base)); ok {
		now = committedState{base, at, heads}
	}
	k.shared.set(now)
}

// updateHeads updates the recorded HEADs in the state before, after a commit by the task
// itself. In repositories of others, what their tasks committed stays unknown.
func (k *checkpoints) updateHeads(before committedState) {
	own, project := k.place.repository(), "workspace/"+k.task.Repo
	repos := slices.DeleteFunc(git.Repos(k.place.workspace, before.base), func(r string) bool {
		return k.task.Repo != "" && r != own && r != project && !below(r, project)
	})
	if heads, ok := headsOf(k.place.workspace, repos); ok {
		k.shared.update(before.snapshot, heads)
	}
}
