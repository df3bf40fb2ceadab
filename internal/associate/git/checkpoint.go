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

// Checkpoint is a request to commit a known change.
type Checkpoint struct {
	Workspace string
	Paths     []string // changed paths, raw, below the workspace
	Subject   string
	Body      string // may be empty
	Seq       uint64
	Run, Task choir.ID
	At        choir.Time
}

// Made is what a checkpoint came to.
type Made struct {
	Commits  []choir.Commit // none when there was nothing to commit
	Folders  []string       // the .git folders of the commits, raw, below the workspace
	Withheld []string       // paths that look like keys, raw, below the workspace
}

// Commit commits the changed paths, each in the repository it belongs to, on
// the branch that is checked out there, and nothing else: what a person staged
// stays staged. Ignored paths stay out. The workspace gets a repository when it
// has none.
func (g *Git) Commit(ctx context.Context, c Checkpoint) (Made, error) {
	var made Made
	groups := owners(c.Workspace, c.Paths)
	for _, repo := range sorted(groups) {
		dir := filepath.Join(c.Workspace, repo)
		if repo == "." && !isRepo(dir) {
			if _, err := g.run(ctx, dir, nil, "init", "-q", "-b", "main"); err != nil {
				return made, choir.Wrap("git.commit", choir.CodeInternal, err, "make a repository in the workspace")
			}
		}
		id, withheld, err := g.commitIn(ctx, dir, groups[repo], c)
		if err != nil {
			return made, choir.Wrap("git.commit", choir.CodeInternal, err, "commit in %s", repo)
		}
		for _, p := range withheld {
			made.Withheld = append(made.Withheld, path.Join(repo, p))
		}
		if id != "" {
			g.pack(ctx, dir)
			made.Commits = append(made.Commits, choir.Commit{Repo: name(repo), Commit: id})
			made.Folders = append(made.Folders, path.Join(repo, ".git"))
		}
	}
	return made, nil
}

// commitIn commits what changed in one repository.
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
	if id, done, err := g.quick(ctx, dir, paths, extra, c); done || err != nil {
		return id, nil, err
	}
	paths, withheld, err = g.choose(ctx, dir, paths, extra)
	if err != nil {
		return "", nil, err
	}
	id, err = g.commit(ctx, dir, paths, c)
	return id, withheld, err
}

// choose leaves out ignored paths, and new ones that look like keys.
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

// commit brings the paths into the index and commits what then differs from
// HEAD at those paths. The id is empty when nothing does.
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

// index updates the entries of the paths from the tree.
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

// head is the ref that a commit moves, and whether it has a commit yet.
func (g *Git) head(ctx context.Context, dir string) (ref string, born bool, err error) {
	out, err := g.run(ctx, dir, nil, "rev-parse", "--symbolic-full-name", "--verify", "-q", "HEAD")
	var f *failed
	if errors.As(err, &f) {
		out, err = g.run(ctx, dir, nil, "symbolic-ref", "HEAD")
		return strings.TrimSpace(string(out)), false, err
	}
	return strings.TrimSpace(string(out)), true, err
}

// entry is what a path of a commit holds.
type entry struct {
	path     string
	mode, id string // as git writes them; empty for a path that the commit does not have
}

// changedEntries are the entries in diff-index's output of the given paths, what
// is removed first.
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

// wantedBelow reports whether a file took the place of a folder above p, which
// removes p from the index.
func wantedBelow(wanted map[string]bool, p string) bool {
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		if wanted[d] {
			return true
		}
	}
	return false
}

// logLine is what the branch's log says of the commit.
func (c Checkpoint) logLine() string { return "commit: " + strings.ReplaceAll(c.Subject, "\n", " ") }

func (c Checkpoint) message() string {
	m := c.Subject + "\n\n"
	if c.Body != "" {
		m += c.Body + "\n\n"
	}
	return m + fmt.Sprintf("Choir-Seq: %d\nChoir-Run: %s\nChoir-Task: %s\n", c.Seq, c.Run, c.Task)
}
