package taskrunner

import (
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"choiros/internal/associate/git"
	"choiros/internal/associate/tools"
	"choiros/internal/associate/verify"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
	"choiros/internal/keyfile"
	"choiros/internal/snapshot"
)

// snapshots takes snapshots of the tree in which a task works, and rolls it back.
type snapshots interface {
	Changes(ctx context.Context, task choir.ID) (choir.TaskTreeReply, error)
	Rollback(ctx context.Context, task choir.ID, keep []string) (choir.TaskRollbackReply, error)
}

// comparison finds out what a task has changed since its base.
type comparison struct {
	life  context.Context
	task  choir.ID
	tree  snapshots
	blobs Blobs
	place *place
	base  choir.Digest
}

// changed returns the difference between the current workspace and the task's base,
// without the owner's changes.
func (k *comparison) changed() (change, error) {
	now, err := k.tree.Changes(k.life, k.task)
	if err != nil {
		return change{}, err
	}
	c := change{snapshot: now.Snapshot, same: now.Snapshot == k.base}
	if c.same {
		return c, nil
	}
	all, err := snapshot.Diff(k.life, objects{k.blobs}, k.base, now.Snapshot)
	if err != nil {
		return c, err
	}
	all = k.place.withinScope(all)
	c.same = len(all) == 0
	c.addPaths(withoutOwner(all, now.Owner))
	return c, nil
}

// equalsBase reports whether a snapshot has the same content as the task's base, in the
// task's folder if its commands are confined to that.
func (k *comparison) equalsBase(want choir.Digest) bool {
	if want == k.base || !k.place.scope.Confined {
		return want == k.base
	}
	changes, err := snapshot.Diff(k.life, objects{k.blobs}, want, k.base)
	return err == nil && len(k.place.withinScope(changes)) == 0
}

// withoutDroppings rolls back the files that the verification's checks wrote, such as
// caches and lock files, and returns the change that is left. Files of the change before
// the checks and ignored files are kept.
func (k *comparison) withoutDroppings(before change) (change, error) {
	now, err := k.changed()
	if err != nil || now.snapshot == before.snapshot {
		return now, err
	}
	ignored, err := k.ignored(now)
	if err != nil {
		return now, err
	}
	mine := map[string]bool{}
	for _, f := range before.files {
		mine[f.Path] = true
		mine[f.From] = true
	}
	apart := snapshot.FileChanges(snapshot.Apart(now.all))
	keep := slices.DeleteFunc(slices.Clone(apart), func(f choir.FileChange) bool { return !mine[f.Path] && !ignored[f.Path] })
	if len(keep) == len(apart) {
		return now, nil
	}
	if _, err := k.tree.Rollback(k.life, k.task, append(names(keep), now.repos...)); err != nil {
		return now, err
	}
	return k.changed()
}

// takenBack returns the snapshot of the workspace after a rollback: the base, or another one
// where tasks of other projects may have changed those.
func (k *comparison) takenBack() (choir.Digest, error) {
	if !k.place.scope.Confined {
		return k.base, nil
	}
	now, err := k.tree.Changes(k.life, k.task)
	return now.Snapshot, err
}

// ignored returns the changed paths, escaped, that git ignores.
func (k *comparison) ignored(c change) (map[string]bool, error) {
	raw := map[string]string{}
	var paths []string
	for _, name := range names(c.files) {
		p, err := snapshot.UnescapePath(name)
		if err != nil {
			return nil, err
		}
		raw[string(p)] = name
		paths = append(paths, string(p))
	}
	found, err := k.place.git.Ignored(k.life, k.place.repositoriesTop(), paths)
	ignored := map[string]bool{}
	for p := range found {
		ignored[raw[p]] = true
	}
	return ignored, err
}

// withoutIgnored returns a change without the files that git ignores, and the names of these.
func (k *comparison) withoutIgnored(c change) (kept change, left []string, err error) {
	ignored, err := k.ignored(c)
	if err != nil && k.life.Err() != nil {
		return c, nil, err
	}
	if err != nil || !slices.Contains(slices.Collect(maps.Values(ignored)), true) {
		return c, nil, nil // a repository that git cannot read is shown whole
	}
	c = c.apart(ignored)
	kept = c.only(func(p string) bool { return !ignored[p] })
	kept.same = c.same
	return kept, names(c.only(func(p string) bool { return ignored[p] }).files), nil
}

// leftBehind returns the paths of a change that stay in a copy: what git ignores, in a copy that
// the task asked for.
func (k *comparison) leftBehind(c change) (leave []string, err error) {
	if !k.place.worktree {
		return nil, nil
	}
	ignored, err := k.ignored(c)
	for path, is := range ignored {
		if is {
			leave = append(leave, path)
		}
	}
	return leave, err
}

// changedFiles returns the files of a change below the task's folder for verification.
func (k *comparison) changedFiles(c change) ([]verify.Changed, error) {
	var out []verify.Changed
	for _, ch := range snapshot.Apart(c.all) {
		raw, err := snapshot.UnescapePath(ch.Path)
		if err != nil {
			return nil, err
		}
		name, inside := k.place.below(string(raw))
		if !inside {
			continue
		}
		f := verify.Changed{Path: name, Gone: ch.After == nil}
		if was := ch.Before; was != nil && (was.Kind == snapshot.File || was.Kind == snapshot.Symlink) {
			f.Before = &verify.Former{Mode: was.Mode, Link: was.Target, Read: func() ([]byte, error) { return k.content(string(raw), was, false) }}
		}
		out = append(out, f)
	}
	return out, nil
}

// Limits of a diff, in bytes of content. Larger files are listed and left out of it.
const (
	maxDiffFile  = 16 << 20
	maxDiffTotal = 64 << 20
)

// diff returns a change as a unified diff with paths below the task's folder, nil if it
// is empty; a large one is stored as a blob. left is the number of files left out.
func (k *comparison) diff(c change) (diff *choir.Diff, left int, err error) {
	var before, after []git.File
	var total int64
	for i := range c.all {
		ch := &c.all[i]
		size := contentSize(ch.Before) + contentSize(ch.After)
		b, a, ok, err := k.sides(ch, size <= maxDiffFile && total+size <= maxDiffTotal)
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
	text, err := k.place.git.Diff(k.life, before, after)
	if err != nil || len(text) == 0 {
		return nil, left, err
	}
	diff = &choir.Diff{Format: "unified"}
	if len(text) <= choir.InlineLimit && string(text) == excerpt.Text(text) {
		diff.Content = string(text)
		return diff, left, nil
	}
	diff.Blob, err = k.blobs.PutBlob(k.life, text)
	return diff, left, err
}

// sides returns the content of a change's path before and after it as git files. ok is
// false if the diff must leave it out: outside the task's folder, too large (!fits), new in a
// folder of a cache, neither file nor link, or like a key.
func (k *comparison) sides(ch *snapshot.Change, fits bool) (before, after []git.File, ok bool, err error) {
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
		name, inside := k.place.below(string(raw))
		if !inside || !fits || ch.Before == nil && tools.IsCache(name) || s.e.Kind != snapshot.File && s.e.Kind != snapshot.Symlink {
			return nil, nil, false, nil
		}
		f := git.File{Path: name, Link: s.e.Kind == snapshot.Symlink, Exec: s.e.Mode&0o100 != 0, Content: []byte(s.e.Target)}
		if !f.Link {
			if f.Content, err = k.content(string(raw), s.e, s.to == &after); err != nil {
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
func (k *comparison) content(raw string, e *snapshot.Entry, onDisk bool) ([]byte, error) {
	if e.Size == 0 {
		return nil, nil
	}
	if onDisk {
		if b, err := os.ReadFile(filepath.Join(k.place.scope.Top, raw)); err == nil && choir.DigestOf(b) == e.Digest() {
			return b, nil
		}
	}
	return k.blobs.GetBlob(k.life, e.Digest())
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
