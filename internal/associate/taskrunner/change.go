package taskrunner

import (
	"cmp"
	"slices"
	"strings"

	"choiros/internal/associate/git"
	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// change is the difference between the workspace and the task's base.
type change struct {
	snapshot choir.Digest      // the current workspace
	same     bool              // nothing differs from the base in the task's scope, times included
	all      []snapshot.Change // changes of files and links outside of .git; without changes of times only
	files    []choir.FileChange
	repos    []string // .git folders with changes, escaped
	harmed   []string // of these, the ones of which something that was there is another or gone
}

// paths returns the raw paths that changed, and the former paths of renamed files.
func (c *change) paths() ([]string, error) {
	var out []string
	for i := range c.all {
		for _, p := range []string{c.all[i].From, c.all[i].Path} {
			if p != "" {
				out = append(out, p)
			}
		}
	}
	return rawPaths(out)
}

// withoutOwner returns the changes except those at the paths of owner, which must be
// sorted: the paths that the owner changed while the task ran.
func withoutOwner(all []snapshot.Change, owner []string) []snapshot.Change {
	if len(owner) == 0 {
		return all
	}
	return slices.DeleteFunc(snapshot.Apart(all), func(ch snapshot.Change) bool {
		_, theirs := slices.BinarySearch(owner, ch.Path)
		return theirs
	})
}

// addPaths adds changes of files and links, and the .git folders that changed.
func (c *change) addPaths(all []snapshot.Change) {
	for _, ch := range all {
		from := cmp.Or(ch.From, ch.Path)
		if dir := gitFolder(from); dir != "" && ch.Before != nil && !slices.Contains(c.harmed, dir) {
			c.harmed = append(c.harmed, dir)
		}
		if dir := gitFolder(ch.Path); dir != "" && !slices.Contains(c.repos, dir) {
			c.repos = append(c.repos, dir)
		}
		if one := snapshot.FileChanges([]snapshot.Change{ch}); len(one) == 1 && !git.Inside(ch.Path) {
			c.all = append(c.all, ch)
			c.files = append(c.files, one[0])
		}
	}
}

// gitFolder returns the .git folder that a path is or lies in, "" if none.
func gitFolder(p string) string {
	parts := strings.Split(p, "/")
	if i := slices.Index(parts, ".git"); i >= 0 {
		return strings.Join(parts[:i+1], "/")
	}
	return ""
}

// only returns the changes for whose escaped path want returns true.
func (c *change) only(want func(path string) bool) change {
	some := change{snapshot: c.snapshot}
	for i := range c.all {
		if want(c.all[i].Path) {
			some.addPaths(c.all[i : i+1])
		}
	}
	return some
}

// apart returns c with each rename from an ignored to a not ignored path, or the other
// way, split into a removal and a creation. ignored is keyed by escaped path.
func (c *change) apart(ignored map[string]bool) change {
	out := change{snapshot: c.snapshot, same: c.same, repos: c.repos}
	for i := range c.all {
		one := c.all[i : i+1]
		if from := one[0].From; from != "" && ignored[from] != ignored[one[0].Path] {
			one = snapshot.Apart(one)
		}
		out.addPaths(one)
	}
	return out
}

// contentSize returns the size of an entry, 0 for nil.
func contentSize(e *snapshot.Entry) int64 {
	if e == nil {
		return 0
	}
	return e.Size
}

// names returns the escaped paths of file changes, and the former paths of renames.
func names(files []choir.FileChange) []string {
	out := make([]string, 0, len(files))
	for _, f := range files {
		out = append(out, f.Path)
		if f.From != "" {
			out = append(out, f.From)
		}
	}
	return out
}
