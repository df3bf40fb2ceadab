package scope

import (
	"context"
	"errors"
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
	return s.openCopy(ctx, task, repo, false)
}

// OpenCopy copies the project repo, or the whole workspace if that is empty, as OpenWorktree
// does, with its packages. Commands are confined to the copy of the workspace, too.
func (s *Set) OpenCopy(ctx context.Context, task choir.ID, repo string) (*Scope, error) {
	return s.openCopy(ctx, task, repo, true)
}

func (s *Set) openCopy(ctx context.Context, task choir.ID, repo string, whole bool) (*Scope, error) {
	at := place{repo: repo, task: task}
	s.removeWorktree(at)
	if err := makeOwn(s.cfg.Worktrees); err != nil {
		return nil, choir.Wrap("scope.worktree", choir.CodeNoSpace, err, "make the folder of worktrees")
	}
	err := os.Mkdir(s.top(at), 0o700)
	top := "."
	if repo != "" {
		top = filepath.Join("workspace", repo)
	}
	if err == nil {
		err = verify.CopyTree(ctx, s.cfg.Workspace, s.top(at), top, whole)
	}
	if err == nil && repo != "" {
		err = s.copyAbove(ctx, at)
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

// copyAbove copies the workspace's rules of what git ignores into a worktree, and its repository if
// the project has none of its own.
func (s *Set) copyAbove(ctx context.Context, at place) error {
	for _, name := range []string{".gitignore", ".choirignore"} {
		rules, err := os.ReadFile(filepath.Join(s.cfg.Workspace, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(s.top(at), name), rules, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if _, err := os.Lstat(filepath.Join(s.root(at), ".git")); err == nil {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(s.cfg.Workspace, ".git")); err != nil {
		return nil // it has none yet
	}
	return verify.CopyTree(ctx, s.cfg.Workspace, s.top(at), ".git", true)
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
