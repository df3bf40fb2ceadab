package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"choiros/internal/choir"
)

// choirIgnore is a file of ignore rules, in git's language, for checkpoints
// only.
const choirIgnore = ".choirignore"

// Ignored returns those of the paths (raw, below the workspace) that git
// ignores. A tracked path never is; without a repository nothing is.
func (g *Git) Ignored(ctx context.Context, workspace string, paths []string) (map[string]bool, error) {
	ignored := map[string]bool{}
	groups := owners(workspace, paths)
	for _, repo := range sorted(groups) {
		dir := filepath.Join(workspace, repo)
		if !isRepo(dir) {
			continue
		}
		found, err := g.ignored(ctx, dir, groups[repo], "")
		if err != nil {
			return nil, err
		}
		for p := range found {
			ignored[path.Join(repo, p)] = true
		}
	}
	return ignored, nil
}

// ignored asks git about paths of one repository; extra is a file with more
// rules, or empty.
func (g *Git) ignored(ctx context.Context, dir string, paths []string, extra string) (map[string]bool, error) {
	if extra == "" && !hasRules(dir, paths) {
		return nil, nil
	}
	args := []string{"check-ignore", "-z", "--stdin"}
	if extra != "" {
		args = append([]string{"-c", "core.excludesFile=" + extra}, args...)
	}
	out, err := g.run(ctx, dir, zeros(paths), args...)
	var f *failed
	if errors.As(err, &f) && f.code == 1 {
		return nil, nil // its way to say none
	}
	if err != nil {
		return nil, choir.Wrap("git.ignored", choir.CodeInternal, err, "ask which paths are ignored")
	}
	found := map[string]bool{}
	for _, p := range split(out) {
		found[p] = true
	}
	return found, nil
}

// hasRules looks for files with ignore rules above the paths, which is cheaper
// than to ask git. Rules in .git/info/exclude count when there are any.
func hasRules(dir string, paths []string) bool {
	exclude, err := os.ReadFile(filepath.Join(dir, ".git/info/exclude"))
	if err != nil && !os.IsNotExist(err) {
		return true // a .git file: the rules are elsewhere
	}
	for line := range bytes.Lines(exclude) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return true
		}
	}
	seen := map[string]bool{}
	for _, p := range paths {
		for d := path.Dir(p); !seen[d]; d = path.Dir(d) {
			seen[d] = true
			if _, err := os.Lstat(filepath.Join(dir, d, ".gitignore")); err == nil {
				return true
			}
		}
	}
	return false
}

func zeros(paths []string) []byte { return []byte(strings.Join(paths, "\x00") + "\x00") }

func split(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
