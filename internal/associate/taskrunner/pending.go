package taskrunner

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"choiros/internal/associate/git"
	"choiros/internal/choir"
)

// known is a moment at which everything that could be committed was: where the
// branches still stand there, what changed since is known from the snapshots,
// and git need not look at the whole tree.
type known struct {
	base     string // the folder it is about
	snapshot choir.Digest
	heads    map[string]string // repository to commit
}

// headsOf are the commits the repositories stand at; not ok when one cannot be
// read without git.
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

func (k *known) holds(workspace string) bool {
	if k.snapshot == "" {
		return false
	}
	now, ok := headsOf(workspace, git.Repos(workspace, k.base))
	return ok && maps.Equal(now, k.heads)
}

// pending lists what may differ from HEAD, raw, below the workspace.
func (j *job) pending(ctx context.Context, base string) ([]string, error) {
	repos := git.Repos(j.cfg.Workspace, base)
	if j.told && j.known.base == base && j.known.holds(j.cfg.Workspace) && !slices.ContainsFunc(j.since, hasRules) {
		return slices.DeleteFunc(j.since, func(p string) bool { return base != "." && !below(p, base) }), nil
	}
	var paths []string
	if base == "." {
		var err error
		if paths, err = git.Unversioned(ctx, j.cfg.Workspace); err != nil {
			return nil, err
		}
	}
	for _, repo := range repos {
		more, err := j.git.Pending(ctx, j.cfg.Workspace, repo)
		if err != nil {
			return nil, err
		}
		paths = append(paths, more...)
	}
	return paths, nil
}

// hasRules reports whether a path holds rules about what is ignored: when they
// change, more may differ from HEAD than what was written.
func hasRules(p string) bool {
	return path.Base(p) == ".gitignore" || path.Base(p) == ".choirignore"
}

func below(p, dir string) bool { return len(p) > len(dir) && p[:len(dir)] == dir && p[len(dir)] == '/' }

// remember notes that everything of the task's base is committed.
func (j *job) remember(base string) {
	j.known = known{}
	if heads, ok := headsOf(j.cfg.Workspace, git.Repos(j.cfg.Workspace, base)); ok {
		j.known = known{base, j.base, heads}
	}
}

// moved keeps what is known over a commit of our own.
func (j *job) moved() {
	if heads, ok := headsOf(j.cfg.Workspace, git.Repos(j.cfg.Workspace, j.known.base)); ok {
		j.known.heads = heads
	}
}
