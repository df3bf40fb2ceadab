package workspace

import (
	"context"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// edits makes changes by people, each between two scans of the tree.
type edits struct{ tree *tree }

// change is an edit of the workspace by a person.
type change struct {
	// paths are the person's: what changes at and below them is recorded as theirs.
	paths []string
	// check looks at the snapshot that was taken just before.
	check func(root choir.Digest) error
	do    func(*guest.Client) error
}

// applyEdit makes a person's change between two scans of the tree and returns the
// second one. Other changes found by the scans are recorded under the tasks that work
// in the tree, or as nobody's, so that a rollback can tell them from the person's.
// After an error the changes made so far are recorded too.
func (ed *edits) applyEdit(ctx context.Context, role choir.Role, ch change) (snapshot.Result, error) {
	unlock, err := ed.tree.Lock(ctx)
	if err != nil {
		return snapshot.Result{}, err
	}
	defer unlock()
	only, err := ed.parentsOf(ctx, ch.paths)
	if err != nil {
		return snapshot.Result{}, err
	}
	before, client, err := ed.tree.Scan(ctx, only...)
	if err != nil {
		return before, err
	}
	if err := ed.tree.recordOutside(ctx, before); err != nil {
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

// maxParents is the largest number of folders that are scanned individually.
const maxParents = 32

// parentsOf returns the folders that contain the paths, to limit a scan to them. It
// returns none, for a scan of everything, if a path lies directly in the workspace.
func (ed *edits) parentsOf(ctx context.Context, paths []string) ([]string, error) {
	var only []string
	for _, path := range paths {
		dir := Parent(path)
		if path == trashDir {
			dir = trashDir
		}
		if dir == "" || len(only) == maxParents {
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

// recordEdit appends the changes between two scans: those at paths as the role's, the
// others as the tasks' at work or nobody's.
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
		if isOfEdit(ch, paths) {
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
	parts, of, err := ed.tree.divideAmong(ctx, others)
	if err != nil {
		return err
	}
	return ed.tree.appendParts(ctx, nil, parts, after, ReasonOutside, of, "")
}

// isOfEdit reports whether a change is at or below one of paths, or creates a parent
// folder of one.
func isOfEdit(ch snapshot.Change, paths []string) bool {
	return Below(ch.Path, paths) || ch.Before == nil && slices.ContainsFunc(paths, func(p string) bool {
		return strings.HasPrefix(p, ch.Path+"/")
	})
}
