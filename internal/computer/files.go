package computer

import (
	"context"
	"io"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// Expect says what must be at a path for a write to go ahead.
type Expect struct {
	Digest choir.Digest // a file with this content
	Absent bool         // nothing
	// With neither, anything may be there.
}

// WriteFile makes a file of the workspace what a person wrote, with the folders
// it needs. When something else is there than was expected, the code is conflict
// and the state says what. Paths are escaped as in file events.
func (c *Computer) WriteFile(ctx context.Context, role choir.Role, path string, content io.Reader, want Expect) (choir.FileState, error) {
	if err := checkPath(path); err != nil {
		return choir.FileState{}, err
	}
	// Whoever sends slowly must not hold the workspace meanwhile.
	body, err := c.spool(content)
	if err != nil {
		return choir.FileState{}, err
	}
	defer body.Close()
	return c.edit(ctx, role, path, want, func(client *guest.Client) error {
		if err := makeParents(ctx, client, path); err != nil {
			return err
		}
		_, err := client.WriteFile(ctx, path, 0, body)
		return err
	})
}

// RemoveFile removes a path of the workspace and everything below it. Code
// not_found when nothing is there; otherwise as WriteFile.
func (c *Computer) RemoveFile(ctx context.Context, role choir.Role, path string, want Expect) (choir.FileState, error) {
	if err := checkPath(path); err != nil {
		return choir.FileState{}, err
	}
	return c.edit(ctx, role, path, want, func(client *guest.Client) error {
		err := client.Remove(ctx, path, false)
		if choir.CodeOf(err) == choir.CodeConflict {
			err = c.removeLater(ctx, client, path)
		}
		return err
	})
}

func checkPath(path string) error {
	raw, err := snapshot.UnescapePath(path)
	if err != nil {
		return choir.Under("path", err)
	}
	if len(raw) == 0 || len(path) > 4096 {
		return choir.Invalid("path", "must have 1 to 4096 characters")
	}
	for _, part := range strings.Split(string(raw), "/") {
		if part == "" || part == "." || part == ".." || len(part) > snapshot.MaxName {
			return choir.Invalid("path", "%q is no path below the workspace", path)
		}
	}
	if inGit(path) {
		// File events leave these out, so a rollback could not keep them.
		return &choir.Error{Op: "computer.file", Code: choir.CodeRefused, Path: path, Msg: "lies in git's own folder"}
	}
	return nil
}

func makeParents(ctx context.Context, client *guest.Client, path string) error {
	for i, r := range path {
		if r != '/' {
			continue
		}
		if err := client.Mkdir(ctx, path[:i], 0); err != nil && choir.CodeOf(err) != choir.CodeConflict {
			return err
		}
	}
	return nil
}

// edit lets a person change one path.
func (c *Computer) edit(ctx context.Context, role choir.Role, path string, want Expect, do func(*guest.Client) error) (choir.FileState, error) {
	var there *snapshot.Entry
	after, err := c.change(ctx, role, change{
		paths: []string{path},
		check: func(root choir.Digest) (err error) {
			if there, err = c.lookup(ctx, root, path); err == nil {
				err = want.check(path, there)
			}
			return err
		},
		do: do,
	})
	if err != nil {
		return stateOf(path, there), err
	}
	now, err := c.lookup(ctx, after.Root, path)
	return stateOf(path, now), err
}

// change is what a person does to the workspace.
type change struct {
	// paths are the person's: what changes at and below them is recorded as theirs.
	paths []string
	// check looks at the snapshot that was taken just before.
	check func(root choir.Digest) error
	do    func(*guest.Client) error
}

// change lets a person change paths. What others changed before, and at the same
// time, is recorded as theirs, so that a rollback can tell the two apart. What was
// done before an error is recorded like the rest.
func (c *Computer) change(ctx context.Context, role choir.Role, ch change) (snapshot.Result, error) {
	unlock, err := c.lockTree(ctx)
	if err != nil {
		return snapshot.Result{}, err
	}
	defer unlock()
	only, err := c.around(ctx, ch.paths)
	if err != nil {
		return snapshot.Result{}, err
	}
	before, client, err := c.scan(ctx, only...)
	if err != nil {
		return before, err
	}
	task, err := c.begun(ctx)
	if err != nil {
		return before, err
	}
	if err := c.recordFor(ctx, before, "changed_outside", task); err != nil {
		return before, err
	}
	if err := ch.check(before.Root); err != nil {
		return before, err
	}
	done := ch.do(client)
	after, _, err := c.scan(ctx, only...)
	if err == nil {
		err = c.recordEdit(ctx, role, ch.paths, before, after)
	}
	if done != nil {
		return after, done
	}
	return after, err
}

// mostAround bounds the folders that are looked at one by one.
const mostAround = 32

// around are the folders in which these paths lie, to look at nothing else; none,
// which is everything, when one of them lies in the workspace itself.
func (c *Computer) around(ctx context.Context, paths []string) ([]string, error) {
	var only []string
	for _, path := range paths {
		dir := parent(path)
		if path == trashDir {
			dir = trashDir
		}
		if dir == "" || len(only) == mostAround {
			return nil, nil
		}
		if !below(dir, only) {
			only = append(slices.DeleteFunc(only, func(o string) bool { return below(o, []string{dir}) }), dir)
		}
	}
	last, err := c.lastSnapshot(ctx)
	if err != nil || last == "" {
		return nil, err
	}
	for _, dir := range only {
		// What is not there yet is made below a folder that must be looked at too.
		if e, err := c.lookup(ctx, last, dir); err != nil || e == nil || e.Kind != snapshot.Dir {
			return nil, ignore(err, choir.CodeRefused)
		}
	}
	return only, nil
}

// recordEdit appends what a person changed, and then, as the task's or nobody's,
// what else changed meanwhile.
func (c *Computer) recordEdit(ctx context.Context, role choir.Role, paths []string, before, after snapshot.Result) error {
	if before.Root == after.Root {
		return c.recordFor(ctx, after, "changed_outside", nil)
	}
	changes, err := snapshot.Diff(ctx, c.keeper, before.Root, after.Root)
	if err != nil {
		return err
	}
	var theirs, others []snapshot.Change
	for _, ch := range snapshot.Apart(changes) {
		if madeBy(ch, paths) {
			theirs = append(theirs, ch)
		} else {
			others = append(others, ch)
		}
	}
	drafts, err := c.events.Drafts(fileEvents(theirs, after.Root))
	if err != nil {
		return err
	}
	// The snapshot comes last: it says that everything before it is told.
	if err := c.appendAll(ctx, role, drafts); err != nil {
		return err
	}
	task, err := c.begun(ctx)
	if err != nil {
		return err
	}
	if drafts, err = c.events.Drafts(append(fileEvents(others, after.Root), taken(after, "changed_outside"))); err != nil {
		return err
	}
	return c.appendAll(ctx, choir.RoleControl, forTask(drafts, task))
}

// madeBy says whether a change is at or below a path, or is a folder that one of
// them needed.
func madeBy(ch snapshot.Change, paths []string) bool {
	return below(ch.Path, paths) || ch.Before == nil && slices.ContainsFunc(paths, func(p string) bool {
		return strings.HasPrefix(p, ch.Path+"/")
	})
}

// check holds what is at a path against what was expected.
func (w Expect) check(path string, there *snapshot.Entry) error {
	conflict := func(format string, args ...any) error {
		e := choir.E("computer.file", choir.CodeConflict, format, args...)
		e.Path = path
		return e
	}
	switch {
	case w.Absent && there != nil:
		return conflict("exists already")
	case w.Digest != "" && there == nil:
		return conflict("does not exist any more")
	case w.Digest != "" && (there.Kind != snapshot.File || there.Digest() != w.Digest):
		return conflict("was changed meanwhile")
	}
	return nil
}

func stateOf(path string, e *snapshot.Entry) choir.FileState {
	if e == nil {
		return choir.FileState{}
	}
	return e.State(path)
}

// lookup finds a path in a snapshot; nil when it is not there. A path that leads
// through a link is refused: only the real one is the owner's.
func (c *Computer) lookup(ctx context.Context, root choir.Digest, path string) (*snapshot.Entry, error) {
	raw, err := snapshot.UnescapePath(path)
	if err != nil {
		return nil, err
	}
	sum, _ := root.Bytes()
	at := &snapshot.Entry{Kind: snapshot.Dir, Sum: sum}
	for _, name := range strings.Split(string(raw), "/") {
		if at.Kind == snapshot.Symlink {
			return nil, &choir.Error{Op: "computer.file", Code: choir.CodeRefused, Path: path, Msg: "leads through a link", Remedy: "name the file it leads to"}
		}
		if at.Kind != snapshot.Dir {
			return nil, nil
		}
		entries, err := c.entriesOf(ctx, at.Digest())
		if err != nil {
			return nil, err
		}
		i, found := slices.BinarySearchFunc(entries, name, func(e snapshot.Entry, name string) int { return strings.Compare(e.Name, name) })
		if !found {
			return nil, nil
		}
		entry := entries[i] // the folder's entries are shared
		at = &entry
	}
	return at, nil
}
