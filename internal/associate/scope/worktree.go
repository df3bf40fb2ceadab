package scope

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"choiros/internal/associate/verify"
	"choiros/internal/choir"
)

// OpenWorktree copies the project repo for a task and returns a scope on the copy, which the
// scope's Close removes. The copy lies at the project's path in a tree of its own outside of
// the workspace; it has links to packages that are installed in the project, and its git
// repository finds its objects there. Code too_large: the project has more files or bytes
// than are copied.
func (s *Set) OpenWorktree(ctx context.Context, task choir.ID, repo string) (*Scope, error) {
	at := place{repo: repo, task: task}
	s.removeWorktree(at)
	if err := makeOwn(s.cfg.Worktrees); err != nil {
		return nil, choir.Wrap("scope.worktree", choir.CodeNoSpace, err, "make the folder of worktrees")
	}
	err := os.Mkdir(s.top(at), 0o700)
	if err == nil {
		err = verify.CopyTree(ctx, s.cfg.Workspace, s.top(at), filepath.Join("workspace", repo))
	}
	var sc *Scope
	if err == nil {
		sc, err = s.open(at)
	}
	if err != nil {
		s.removeWorktree(at)
		return nil, choir.Wrap("scope.worktree", "", err, "copy the project %s", repo)
	}
	return sc, nil
}

// removeWorktree removes a worktree with its scratch folders. It ignores errors: what cannot
// be removed stays until the sandbox ends, and nobody takes it for a project.
func (s *Set) removeWorktree(at place) {
	for _, dir := range []string{s.top(at), s.ownFolder(at)} {
		removeTree(dir)
	}
}

// removeWorktrees removes all worktrees and their scratch folders.
func (s *Set) removeWorktrees() {
	if s.cfg.Worktrees == "" {
		return
	}
	removeTree(s.cfg.Worktrees)
	left, _ := filepath.Glob(filepath.Join(s.cfg.Scratch, "of", ".worktree-*"))
	for _, dir := range left {
		removeTree(dir)
	}
}

// removeTree removes a folder with all that is in it, folders that a task closed too.
func removeTree(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
