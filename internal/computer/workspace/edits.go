package workspace

import (
	"context"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// edits are changes that people make, each between two looks at the tree.
type edits struct{ tree *tree }

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
func (ed *edits) change(ctx context.Context, role choir.Role, ch change) (snapshot.Result, error) {
	unlock, err := ed.tree.Lock(ctx)
	if err != nil {
		return snapshot.Result{}, err
	}
	defer unlock()
	only, err := ed.around(ctx, ch.paths)
	if err != nil {
		return snapshot.Result{}, err
	}
	before, client, err := ed.tree.Scan(ctx, only...)
	if err != nil {
		return before, err
	}
	task, err := ed.tree.TaskAtWork(ctx)
	if err != nil {
		return before, err
	}
	if err := ed.tree.RecordFor(ctx, before, ReasonOutside, task); err != nil {
		return before, err
	}
	if err := ch.check(before.Root); err != nil {
		return before, err
	}
	done := ch.do(client)
	after, _, err := ed.tree.Scan(ctx, only...)
	if err == nil {
		err = ed.recordEdit(ctx, role, ch.paths, before, after)
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
func (ed *edits) around(ctx context.Context, paths []string) ([]string, error) {
	var only []string
	for _, path := range paths {
		dir := Parent(path)
		if path == trashDir {
			dir = trashDir
		}
		if dir == "" || len(only) == mostAround {
			return nil, nil
		}
		if !Below(dir, only) {
			only = append(slices.DeleteFunc(only, func(o string) bool { return Below(o, []string{dir}) }), dir)
		}
	}
	last, err := ed.tree.LastSnapshot(ctx)
	if err != nil || last == "" {
		return nil, err
	}
	for _, dir := range only {
		// What is not there yet is made below a folder that must be looked at too.
		if e, err := ed.tree.Lookup(ctx, last, dir); err != nil || e == nil || e.Kind != snapshot.Dir {
			return nil, Ignore(err, choir.CodeRefused)
		}
	}
	return only, nil
}

// recordEdit appends what a person changed, and then, as the task's or nobody's,
// what else changed meanwhile.
func (ed *edits) recordEdit(ctx context.Context, role choir.Role, paths []string, before, after snapshot.Result) error {
	if before.Root == after.Root {
		return ed.tree.RecordFor(ctx, after, ReasonOutside, nil)
	}
	changes, err := snapshot.Diff(ctx, ed.tree.keeper, before.Root, after.Root)
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
	drafts, err := ed.tree.events.Drafts(FileEvents(theirs, after.Root))
	if err != nil {
		return err
	}
	// The snapshot comes last: it says that everything before it is told.
	if err := ed.tree.AppendAll(ctx, role, drafts); err != nil {
		return err
	}
	task, err := ed.tree.TaskAtWork(ctx)
	if err != nil {
		return err
	}
	if drafts, err = ed.tree.events.Drafts(append(FileEvents(others, after.Root), taken(after, ReasonOutside))); err != nil {
		return err
	}
	return ed.tree.AppendAll(ctx, choir.RoleControl, ForTask(drafts, task))
}

// madeBy says whether a change is at or below a path, or is a folder that one of
// them needed.
func madeBy(ch snapshot.Change, paths []string) bool {
	return Below(ch.Path, paths) || ch.Before == nil && slices.ContainsFunc(paths, func(p string) bool {
		return strings.HasPrefix(p, ch.Path+"/")
	})
}
