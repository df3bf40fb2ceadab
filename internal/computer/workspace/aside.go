package workspace

import (
	"context"
	"errors"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// Aside is one path that no snapshot holds and that a rewind or rollback moved to the
// trash, because it was in the way. The owner finds it there.
type Aside struct {
	ID   choir.ID `json:"id,omitempty" doc:"Item of the trash; absent when nothing was done."`
	From string   `json:"from" doc:"Path it had."`
	Item string   `json:"item,omitempty" doc:"Path in the trash."`
}

// InTheWay lists the paths that no snapshot holds and that stand where the target
// snapshot has something: restoring the target requires moving them first. A cache
// folder is in the way only of a target entry that is no folder.
func (tr *trash) InTheWay(ctx context.Context, target choir.Digest, now snapshot.Result) ([]string, error) {
	over := map[string]bool{}
	for _, l := range now.Over {
		over[l.Path] = true
	}
	var out []string
	for _, path := range now.Left {
		if Below(path, []string{trashDir}) {
			continue
		}
		meets, err := tr.occupies(ctx, target, path, over[path])
		if err != nil {
			return nil, err
		}
		if meets {
			out = append(out, path)
		}
	}
	return out, nil
}

// occupies reports whether the snapshot root has something other than a folder above
// path, or, if at is set, anything at path itself.
func (tr *trash) occupies(ctx context.Context, root choir.Digest, path string, at bool) (bool, error) {
	raw, err := snapshot.UnescapePath(path)
	if err != nil {
		return false, err
	}
	names := strings.Split(string(raw), "/")
	for i, name := range names {
		entries, err := tr.tree.Entries(ctx, root)
		if err != nil {
			return false, err
		}
		n, found := slices.BinarySearchFunc(entries, name, func(e snapshot.Entry, name string) int { return strings.Compare(e.Name, name) })
		switch {
		case !found:
			return false, nil
		case i == len(names)-1:
			return at, nil
		case entries[n].Kind != snapshot.Dir:
			return true, nil
		}
		root = entries[n].Digest()
	}
	return false, nil
}

// MoveAside moves paths to the trash. After an error all are back where they were. The
// caller holds the tree.
func (tr *trash) MoveAside(ctx context.Context, client *guest.Client, paths []string) ([]Aside, error) {
	var out []Aside
	for _, path := range paths {
		t, err := tr.discard(ctx, client, path)
		if code := choir.CodeOf(err); code == choir.CodeNotFound || code == choir.CodeForbidden {
			continue // it went away by itself, or lies where it cannot be moved: then it stays
		}
		if err != nil {
			return nil, errors.Join(err, putBack(context.WithoutCancel(ctx), client, out))
		}
		out = append(out, Aside{ID: t.ID, From: path, Item: t.File.Path})
	}
	return out, nil
}

// ClearWay moves to the trash the paths in a scope that no snapshot holds and that are in
// the way of restoring base, and scans the tree again. It returns the new scan, and keep
// extended by the paths of the new trash items. The caller holds the tree.
func (tr *trash) ClearWay(ctx context.Context, client *guest.Client, scope Scope, base choir.Digest, now snapshot.Result, keep []string) (snapshot.Result, []string, error) {
	way, err := tr.InTheWay(ctx, base, now)
	way = slices.DeleteFunc(way, func(path string) bool { return !scope.Holds(path) })
	if err != nil || len(way) == 0 {
		return now, keep, err
	}
	aside, err := tr.MoveAside(ctx, client, way)
	if err != nil {
		return now, keep, err
	}
	keep = append(slices.Clone(keep), trashDir+"/.gitignore")
	for _, a := range aside {
		keep = append(keep, trashDir+"/"+string(a.ID))
	}
	now, err = tr.tree.ScanWith(ctx, client, nil)
	return now, keep, err
}

// putBack moves items of the trash back to their former paths. It skips items that are
// already back, and items whose path is now occupied.
func putBack(ctx context.Context, client *guest.Client, items []Aside) error {
	for _, a := range items {
		err := makeParents(ctx, client, a.From)
		if err == nil {
			err = Ignore(client.Rename(ctx, a.Item, a.From), choir.CodeNotFound)
		}
		if choir.CodeOf(err) == choir.CodeConflict {
			continue
		}
		if err == nil {
			err = Ignore(client.Remove(ctx, trashDir+"/"+string(a.ID), true), choir.CodeNotFound)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// returnToTrash moves items that putBack restored to the trash again. It skips items
// that are not there.
func returnToTrash(ctx context.Context, client *guest.Client, items []Aside) error {
	for _, a := range items {
		err := makeParents(ctx, client, a.Item)
		if err == nil {
			err = client.Rename(ctx, a.From, a.Item)
		}
		if code := choir.CodeOf(err); err != nil && code != choir.CodeNotFound && code != choir.CodeConflict {
			return err
		}
	}
	return nil
}

// ThrownSince lists the trash items that were thrown away after event seq and that no
// snapshot held at that time. A rewind to seq restores them from the trash.
func (tr *trash) ThrownSince(ctx context.Context, seq uint64, now snapshot.Result) ([]Aside, error) {
	left, err := tr.tree.log.LeftOut(ctx, seq)
	if err != nil || len(left.Over) == 0 && len(left.Paths) == 0 {
		return nil, err
	}
	wanted := slices.Clone(left.Paths)
	for _, l := range left.Over {
		wanted = append(wanted, l.Path)
	}
	moment, err := tr.tree.log.At(ctx, seq)
	if err != nil {
		return nil, err
	}
	items, err := tr.Trash(ctx)
	if err != nil {
		return nil, err
	}
	var out []Aside
	for _, t := range slices.Backward(items) { // the oldest first
		if t.At < moment.Time || !slices.Contains(wanted, t.From) || slices.Contains(now.Left, t.From) {
			continue
		}
		if !slices.ContainsFunc(out, func(a Aside) bool { return a.From == t.From }) {
			out = append(out, Aside{ID: t.ID, From: t.From, Item: t.File.Path})
		}
	}
	return out, nil
}

// KeepNotes returns the snapshot target extended by the trash notes (the "from" files)
// of items that no snapshot holds, because a rewind leaves these items in the trash.
// Items in back return to their place and need no note.
func (tr *trash) KeepNotes(ctx context.Context, target choir.Digest, now snapshot.Result, back []Aside) (choir.Digest, error) {
	var folders []string
	for _, path := range now.Left {
		id, item, ok := strings.Cut(strings.TrimPrefix(path, trashDir+"/"), "/item/")
		if ok && item != "" && Below(path, []string{trashDir}) && !slices.ContainsFunc(back, func(a Aside) bool { return string(a.ID) == id }) {
			folders = append(folders, trashDir+"/"+id)
		}
	}
	if len(folders) == 0 {
		return target, nil
	}
	changes, err := snapshot.Diff(ctx, tr.tree.keeper, target, now.Root)
	if err != nil {
		return "", err
	}
	var paths []string
	for _, ch := range snapshot.Apart(changes) {
		around := ch.Before == nil && (ch.Path == trashDir || ch.Path == trashDir+"/.gitignore")
		if ch.After != nil && (around || Below(ch.Path, folders)) {
			paths = append(paths, ch.Path)
		}
	}
	if len(paths) == 0 {
		return target, nil
	}
	return timeline.Graft(ctx, tr.tree.keeper, target, now.Root, paths)
}
