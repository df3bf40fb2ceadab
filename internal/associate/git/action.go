package git

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"choiros/internal/choir"
)

// Status returns the branch and the changed paths of a repository in git's short format.
func (g *Git) Status(ctx context.Context, dir string) (string, error) {
	out, err := g.run(ctx, dir, nil, "status", "--short", "--branch", "--untracked-files=all")
	return string(out), err
}

// CheckHead returns an error if git cannot read the commit that the repository in a folder
// has checked out.
func (g *Git) CheckHead(ctx context.Context, dir string) error {
	_, err := g.run(ctx, dir, nil, "rev-parse", "--verify", "HEAD^{tree}")
	return err
}

// Pending returns the paths of the repository at the folder repo that differ from HEAD,
// untracked ones included. They are raw and relative to the workspace.
func (g *Git) Pending(ctx context.Context, workspace, repo string) ([]string, error) {
	out, err := g.run(ctx, filepath.Join(workspace, repo), nil, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all")
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, line := range split(out) {
		// "XY path"; a nested repository is listed as a folder.
		if len(line) > 3 && !strings.HasSuffix(line, "/") {
			paths = append(paths, path.Join(repo, line[3:]))
		}
	}
	return paths, nil
}

// Unversioned returns the files of a workspace whose own repository does not exist yet,
// without the files of projects with a repository. The paths are raw, relative to the
// workspace. It returns none if the workspace has a repository.
func Unversioned(ctx context.Context, workspace string) ([]string, error) {
	if isRepo(workspace) {
		return nil, nil
	}
	var paths []string
	err := filepath.WalkDir(workspace, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case e.IsDir() && isRepo(name):
			return fs.SkipDir
		case e.Type().IsRegular(), e.Type()&fs.ModeSymlink != 0:
			rel, err := filepath.Rel(workspace, name)
			paths = append(paths, rel)
			return err
		}
		return nil
	})
	return paths, choir.Wrap("git.files", "", err, "list the files of the workspace")
}

// Repos returns the repositories at a folder of the workspace: base itself if it has a
// repository, and for "." also choiros, artifacts and the projects under workspace/.
func Repos(workspace, base string) []string {
	var repos []string
	try := []string{base}
	if base == "." {
		try = append(try, "choiros", "artifacts")
		entries, _ := os.ReadDir(filepath.Join(workspace, "workspace")) // none is no error
		for _, e := range entries {
			try = append(try, path.Join("workspace", e.Name()))
		}
	}
	for _, r := range try {
		if isRepo(filepath.Join(workspace, r)) {
			repos = append(repos, r)
		}
	}
	return repos
}

// RepoOf returns the folder of the repository that dir belongs to, relative to the
// workspace; "." for the workspace's own.
func RepoOf(workspace, dir string) string { return ownerOf(workspace, dir, map[string]string{}) }

// Reset runs git reset --hard to the commit in args, or to HEAD. Code invalid: args has
// more than one element, or no commit.
func (g *Git) Reset(ctx context.Context, dir string, args []string) error {
	ref := "HEAD"
	if len(args) > 1 {
		return choir.Invalid("git_args[1]", "git_reset takes one commit")
	}
	if len(args) == 1 {
		ref = args[0]
	}
	if err := g.mustExist(ctx, dir, ref); err != nil {
		return err
	}
	_, err := g.run(ctx, dir, nil, "reset", "--hard", "-q", ref)
	return err
}

// Checkout checks out the commit or branch args[0]; with more args, only those paths from
// it. Code invalid: args[0] is no commit.
func (g *Git) Checkout(ctx context.Context, dir string, args []string) error {
	if len(args) == 0 {
		return choir.Invalid("git_args", "git_checkout needs a branch or commit")
	}
	if err := g.mustExist(ctx, dir, args[0]); err != nil {
		return err
	}
	argv := []string{"--literal-pathspecs", "checkout", "-q", args[0], "--"}
	for _, p := range args[1:] {
		if p != "--" {
			argv = append(argv, p)
		}
	}
	_, err := g.run(ctx, dir, nil, argv...)
	return err
}

// mustExist returns an error with code invalid unless ref names a commit. Options are
// refused.
func (g *Git) mustExist(ctx context.Context, dir, ref string) error {
	if strings.HasPrefix(ref, "-") {
		return choir.Invalid("git_args[0]", "%q is an option, not a commit", ref)
	}
	if _, err := g.Resolve(ctx, dir, ref); err != nil {
		return choir.Invalid("git_args[0]", "%q is not a commit here", ref)
	}
	return nil
}

// Resolve returns the id of the commit that ref names.
func (g *Git) Resolve(ctx context.Context, dir, ref string) (string, error) {
	out, err := g.run(ctx, dir, nil, "rev-parse", "--verify", "-q", "--end-of-options", ref+"^{commit}")
	return strings.TrimSpace(string(out)), err
}
