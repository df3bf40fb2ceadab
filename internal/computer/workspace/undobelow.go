package workspace

import (
	"context"
	"slices"
	"time"

	"choiros/internal/choir"
	"choiros/internal/guest"
	"choiros/internal/snapshot"
)

// UndoBelow restores dest and everything below it from the snapshot before, and moves
// the paths in aside back. It also runs after the request's context has ended. The
// caller holds the tree.
func (t *tree) UndoBelow(ctx context.Context, before choir.Digest, dest string, aside []Aside) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	err := t.restoreBelow(ctx, before, dest)
	if err != nil || len(aside) == 0 {
		return err
	}
	client, err := t.sandbox.Guest(ctx)
	if err != nil {
		return err
	}
	if err := putBack(ctx, client, aside); err != nil {
		return err
	}
	// Once more, for the times of the folders that they went back to.
	return t.restoreBelow(ctx, before, dest, trashDir)
}

// restoreBelow restores paths and everything below them from the snapshot before.
func (t *tree) restoreBelow(ctx context.Context, before choir.Digest, paths ...string) error {
	now, client, err := t.Scan(ctx)
	if err != nil {
		return err
	}
	changes, err := snapshot.Diff(ctx, t.keeper, before, now.Root)
	if err != nil {
		return err
	}
	var only []string
	for _, ch := range snapshot.Apart(changes) {
		// The folder above is part of it: its time moved.
		above := func(p string) bool { return ch.Path == Parent(p) }
		if Below(ch.Path, paths) || slices.ContainsFunc(paths, above) {
			only = append(only, ch.Path)
		}
	}
	if len(only) == 0 {
		return nil
	}
	_, err = t.RestoreTree(ctx, client, before, guest.RestoreOptions{Only: only, Narrow: true})
	return err
}
