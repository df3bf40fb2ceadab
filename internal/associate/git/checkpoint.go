package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// Checkpoint describes the commits to make of a change: its paths, message and time.
type Checkpoint struct {
	Workspace string
	Paths     []string // changed paths, raw, relative to the workspace
	Subject   string
	Body      string // optional
	Seq       uint64
	Run, Task choir.ID
	At        choir.Time
	// By returns the git that commits in a repository, given by its folder below the
	// workspace, "." for the workspace's own. Without it the Git commits in all of them.
	By func(repo string) *Git
}

// Made lists the commits of a checkpoint.
type Made struct {
	Commits  []choir.Commit // empty if there was nothing to commit
	Folders  []string       // the .git folders of the commits, raw, relative to the workspace
	Withheld []string       // paths not committed because they look like keys, raw, relative to the workspace
}

// Commit commits the paths of c, in the repository of each, on the branch checked out
// there. It leaves staged changes of other paths staged, and ignored paths out. It
// creates the workspace's repository if it is missing. A repository that git cannot use
// holds up no other: the error names it, beside the commits of the others.
func (g *Git) Commit(ctx context.Context, c Checkpoint) (made Made, broken error) {
	groups := owners(c.Workspace, c.Paths)
	for _, repo := range sorted(groups) {
		dir, by := filepath.Join(c.Workspace, repo), g
		if c.By != nil {
			by = c.By(repo)
		}
		if repo == "." && !isRepo(dir) {
			if _, err := by.run(ctx, dir, nil, "init", "-q", "-b", "main"); err != nil {
				return made, choir.Wrap("git.commit", choir.CodeInternal, err, "make a repository in the workspace")
			}
		}
		id, withheld, err := by.commitIn(ctx, dir, groups[repo], c)
		if err != nil {
			broken = errors.Join(broken, choir.Wrap("git.commit", choir.CodeInternal, err, "commit in %s", repo))
			if ctx.Err() != nil {
				return made, broken
			}
			continue
		}
		for _, p := range withheld {
			made.Withheld = append(made.Withheld, path.Join(repo, p))
		}
		if id != "" {
			by.pack(ctx, dir)
			made.Commits = append(made.Commits, choir.Commit{Repo: name(repo), Commit: id})
			made.Folders = append(made.Folders, path.Join(repo, ".git"))
		}
	}
	return made, broken
}

// commitIn commits the changed paths of one repository, without starting git if
// possible. id is "" if nothing differs from HEAD; withheld are new paths that look like
// keys and are not committed.
func (g *Git) commitIn(ctx context.Context, dir string, paths []string, c Checkpoint) (id string, withheld []string, err error) {
	extra := ""
	for _, top := range []string{c.Workspace, dir} {
		if file := filepath.Join(top, choirIgnore); exists(file) {
			extra = file // the repository's own goes before the workspace's
		}
	}
	if id, done, err := g.direct(ctx, dir, paths, extra, c); done || err != nil {
		return id, nil, err
	}
	paths, withheld, err = g.choose(ctx, dir, paths, extra)
	if err != nil {
		return "", nil, err
	}
	id, err = g.commit(ctx, dir, paths, c)
	return id, withheld, err
}

// choose returns the paths to commit: without ignored paths, and without new paths that
// look like keys, which it returns as withheld. extra is a file of ignore rules, or "".
func (g *Git) choose(ctx context.Context, dir string, paths []string, extra string) (chosen, withheld []string, err error) {
	ignored, err := g.ignored(ctx, dir, paths, extra)
	if err != nil {
		return nil, nil, err
	}
	var suspects []string
	for _, p := range paths {
		switch {
		case ignored[p]:
		case LooksLikeKey(dir, p):
			suspects = append(suspects, p)
		default:
			chosen = append(chosen, p)
		}
	}
	if len(suspects) == 0 {
		return chosen, nil, nil
	}
	// What is tracked already is the owner's decision.
	tracked, err := g.run(ctx, dir, nil, append([]string{"--literal-pathspecs", "ls-files", "-z", "--"}, suspects...)...)
	if err != nil {
		return nil, nil, choir.Wrap("git.commit", choir.CodeInternal, err, "ask which paths are tracked")
	}
	known := map[string]bool{}
	for _, p := range split(tracked) {
		known[p] = true
	}
	for _, p := range suspects {
		if known[p] {
			chosen = append(chosen, p)
		} else if exists(filepath.Join(dir, p)) {
			withheld = append(withheld, p)
		}
	}
	return chosen, withheld, nil
}

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// commit updates the index for the paths and commits their difference from HEAD. It
// returns the commit's id, "" if nothing differs.
func (g *Git) commit(ctx context.Context, dir string, paths []string, c Checkpoint) (string, error) {
	if len(paths) == 0 {
		return "", nil
	}
	if err := g.index(ctx, dir, paths); err != nil {
		return "", err
	}
	head, born, err := g.head(ctx, dir)
	if err != nil {
		return "", err
	}
	against := "HEAD"
	if !born {
		out, err := g.run(ctx, dir, []byte{}, "hash-object", "-t", "tree", "--stdin")
		if err != nil {
			return "", err
		}
		against = strings.TrimSpace(string(out))
	}
	raw, err := g.run(ctx, dir, nil, "diff-index", "--cached", "--raw", "--no-renames", "--ignore-submodules=all", "--full-index", "--no-abbrev", "-z", against)
	if err != nil {
		return "", err
	}
	changed := changedEntries(raw, paths)
	if len(changed) == 0 {
		return "", nil
	}
	return g.commitTree(ctx, dir, head, born, changed, c)
}

// index updates the index entries of the paths from the work tree.
func (g *Git) index(ctx context.Context, dir string, paths []string) error {
	fault.Point("git.index")
	var update, remove []string
	for _, p := range paths {
		info, err := os.Lstat(filepath.Join(dir, p))
		if err == nil && !info.Mode().IsRegular() && info.Mode()&os.ModeSymlink == 0 {
			remove = append(remove, p) // a folder or pipe took a file's place
		} else {
			update = append(update, p)
		}
	}
	if len(remove) > 0 {
		if _, err := g.run(ctx, dir, zeros(remove), "update-index", "--force-remove", "-z", "--stdin"); err != nil {
			return err
		}
	}
	if len(update) == 0 {
		return nil
	}
	_, err := g.run(ctx, dir, zeros(update), "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	return err
}

// head returns the name of the branch that HEAD refers to; born is false if the branch
// has no commit yet.
func (g *Git) head(ctx context.Context, dir string) (ref string, born bool, err error) {
	out, err := g.run(ctx, dir, nil, "rev-parse", "--symbolic-full-name", "--verify", "-q", "HEAD")
	var f *failed
	if errors.As(err, &f) {
		out, err = g.run(ctx, dir, nil, "symbolic-ref", "HEAD")
		return strings.TrimSpace(string(out)), false, err
	}
	return strings.TrimSpace(string(out)), true, err
}

// entry is a path with its mode and object id.
type entry struct {
	path     string
	mode, id string // in git's notation; empty for a removed path
}

// changedEntries parses the raw output of git diff-index and returns the entries at or
// below the given paths, removed ones first.
func changedEntries(raw []byte, paths []string) []entry {
	wanted := map[string]bool{}
	for _, p := range paths {
		wanted[p] = true
	}
	var removed, written []entry
	fields := split(raw)
	for i := 0; i+1 < len(fields); i += 2 {
		// :oldmode newmode oldid newid status
		meta, p := strings.Fields(strings.TrimPrefix(fields[i], ":")), fields[i+1]
		if len(meta) != 5 || !wanted[p] && !wantedBelow(wanted, p) {
			continue
		}
		if meta[4] == "D" {
			removed = append(removed, entry{path: p})
		} else {
			written = append(written, entry{p, meta[1], meta[3]})
		}
	}
	return append(removed, written...)
}

// wantedBelow reports whether a folder above p is in wanted: a file that replaced it
// removes p from the index.
func wantedBelow(wanted map[string]bool, p string) bool {
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		if wanted[d] {
			return true
		}
	}
	return false
}

// logLine returns the reflog message of the commit.
func (c Checkpoint) logLine() string { return "commit: " + strings.ReplaceAll(c.Subject, "\n", " ") }

// message returns the commit message: subject, body, and the trailers Choir-Seq, -Run and -Task.
func (c Checkpoint) message() string {
	m := c.Subject + "\n\n"
	if c.Body != "" {
		m += c.Body + "\n\n"
	}
	return m + fmt.Sprintf("Choir-Seq: %d\nChoir-Run: %s\nChoir-Task: %s\n", c.Seq, c.Run, c.Task)
}
