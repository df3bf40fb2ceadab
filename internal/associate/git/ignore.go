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

// choirIgnore is the name of a file with ignore rules, in git's syntax, that only
// checkpoints obey.
const choirIgnore = ".choirignore"

// Ignored returns the set of those paths (raw, relative to the workspace) that git
// ignores. Tracked paths, and paths outside of a repository, are not ignored.
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

// ignored returns the ignored paths among paths of one repository. extra is a file with
// further rules, or "".
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

// hasRules reports whether ignore rules may apply to the paths: in a .gitignore above
// them or in .git/info/exclude. It does not start git.
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

// zeros returns the paths as input for git's option -z: each ended by a zero byte.
func zeros(paths []string) []byte { return []byte(strings.Join(paths, "\x00") + "\x00") }

// split returns the items of git's output with option -z.
func split(out []byte) []string {
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
