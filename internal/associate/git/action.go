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

// Status is what a person reads: branch and changed paths, short form.
func (g *Git) Status(ctx context.Context, dir string) (string, error) {
	out, err := g.run(ctx, dir, nil, "status", "--short", "--branch", "--untracked-files=all")
	return string(out), err
}

// Pending lists the paths of one repository (its folder below the workspace)
// that differ from HEAD, untracked ones too, raw and below the workspace.
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

// Unversioned lists the files of a workspace that has no repository of its own
// yet, without those that belong to a project with one: raw, below the workspace.
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

// Repos lists the repositories at and directly below a folder of the workspace:
// the folder itself, and the projects a person put into it.
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

// RepoOf is the repository a folder belongs to, "." for the workspace's own.
func RepoOf(workspace, dir string) string { return ownerOf(workspace, dir, map[string]string{}) }

// Reset sets the branch, the index and the tracked files to a commit (default
// HEAD).
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

// Checkout goes to a commit or branch, or with more arguments takes those paths
// from it.
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

// mustExist refuses what is not a commit: options above all.
func (g *Git) mustExist(ctx context.Context, dir, ref string) error {
	if strings.HasPrefix(ref, "-") {
		return choir.Invalid("git_args[0]", "%q is an option, not a commit", ref)
	}
	if _, err := g.Resolve(ctx, dir, ref); err != nil {
		return choir.Invalid("git_args[0]", "%q is not a commit here", ref)
	}
	return nil
}

// Resolve is the commit that a ref names.
func (g *Git) Resolve(ctx context.Context, dir, ref string) (string, error) {
	out, err := g.run(ctx, dir, nil, "rev-parse", "--verify", "-q", "--end-of-options", ref+"^{commit}")
	return strings.TrimSpace(string(out)), err
}
