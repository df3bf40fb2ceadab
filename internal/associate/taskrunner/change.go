package taskrunner

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"choiros/internal/associate/git"
	"choiros/internal/associate/tools"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
	"choiros/internal/keyfile"
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

// changed returns the difference between the current workspace and the task's base,
// without the owner's changes.
func (j *job) changed() (change, error) {
	now, err := j.cfg.Tree.Changes(j.life, j.event.Task)
	if err != nil {
		return change{}, err
	}
	c := change{snapshot: now.Snapshot, same: now.Snapshot == j.base}
	if c.same {
		return c, nil
	}
	all, err := snapshot.Diff(j.life, objects{j.cfg.Blobs}, j.base, now.Snapshot)
	if err != nil {
		return c, err
	}
	all = j.place.withinScope(all)
	c.same = len(all) == 0
	c.addPaths(withoutOwner(all, now.Owner))
	return c, nil
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

// objects reads the objects of snapshots from the blob store.
type objects struct{ blobs Blobs }

// Manifest implements snapshot.Getter.
func (o objects) Manifest(ctx context.Context, d choir.Digest) ([]byte, error) {
	return o.blobs.GetBlob(ctx, d)
}

// Content implements snapshot.Getter.
func (o objects) Content(ctx context.Context, d choir.Digest) (io.ReadCloser, error) {
	b, err := o.blobs.GetBlob(ctx, d)
	return io.NopCloser(bytes.NewReader(b)), err
}

// Limits of a diff, in bytes of content. Larger files are listed and left out of it.
const (
	maxDiffFile  = 16 << 20
	maxDiffTotal = 64 << 20
)

// diff returns a change as a unified diff with paths below the task's folder, nil if it
// is empty; a large one is stored as a blob. left is the number of files left out.
func (j *job) diff(c change) (diff *choir.Diff, left int, err error) {
	var before, after []git.File
	var total int64
	for i := range c.all {
		ch := &c.all[i]
		size := contentSize(ch.Before) + contentSize(ch.After)
		b, a, ok, err := j.sides(ch, size <= maxDiffFile && total+size <= maxDiffTotal)
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			left++
			continue
		}
		total += size
		before, after = append(before, b...), append(after, a...)
	}
	text, err := j.place.git.Diff(j.life, before, after)
	if err != nil || len(text) == 0 {
		return nil, left, err
	}
	diff = &choir.Diff{Format: "unified"}
	if len(text) <= choir.InlineLimit && string(text) == excerpt.Text(text) {
		diff.Content = string(text)
		return diff, left, nil
	}
	diff.Blob, err = j.cfg.Blobs.PutBlob(j.life, text)
	return diff, left, err
}

// contentSize returns the size of an entry, 0 for nil.
func contentSize(e *snapshot.Entry) int64 {
	if e == nil {
		return 0
	}
	return e.Size
}

// sides returns the content of a change's path before and after it as git files. ok is
// false if the diff must leave it out: outside the task's folder, too large (!fits), new in a
// folder of a cache, neither file nor link, or like a key.
func (j *job) sides(ch *snapshot.Change, fits bool) (before, after []git.File, ok bool, err error) {
	from := ch.Path
	if ch.From != "" {
		from = ch.From
	}
	for _, s := range []struct {
		e    *snapshot.Entry
		path string
		to   *[]git.File
	}{{ch.Before, from, &before}, {ch.After, ch.Path, &after}} {
		if s.e == nil || s.e.Kind == snapshot.Dir {
			continue // a folder that took a file's place: what is in it stands elsewhere
		}
		raw, err := snapshot.UnescapePath(s.path)
		if err != nil {
			return nil, nil, false, err
		}
		name, inside := j.place.below(string(raw))
		if !inside || !fits || ch.Before == nil && tools.IsCache(name) || s.e.Kind != snapshot.File && s.e.Kind != snapshot.Symlink {
			return nil, nil, false, nil
		}
		f := git.File{Path: name, Link: s.e.Kind == snapshot.Symlink, Exec: s.e.Mode&0o100 != 0, Content: []byte(s.e.Target)}
		if !f.Link {
			if f.Content, err = j.content(string(raw), s.e, s.to == &after); err != nil {
				return nil, nil, false, err
			}
			if keyfile.Name(path.Base(name)) || keyfile.Content(f.Content[:min(len(f.Content), keyfile.Head)]) {
				return nil, nil, false, nil // the log keeps what it is told for ever, and travels
			}
		}
		*s.to = append(*s.to, f)
	}
	return before, after, true, nil
}

// content returns the content of the file entry e of a snapshot. With onDisk it reads
// the file from the workspace if its digest matches, else from the blob store.
func (j *job) content(raw string, e *snapshot.Entry, onDisk bool) ([]byte, error) {
	if e.Size == 0 {
		return nil, nil
	}
	if onDisk {
		if b, err := os.ReadFile(filepath.Join(j.place.scope.Top, raw)); err == nil && choir.DigestOf(b) == e.Digest() {
			return b, nil
		}
	}
	return j.cfg.Blobs.GetBlob(j.life, e.Digest())
}
