package copies

import (
	"context"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/computer/moments"
	"choiros/internal/computer/treemerge"
	"choiros/internal/computer/workspace"
	"choiros/internal/snapshot"
	"choiros/internal/timeline"
)

// both is a blob store that reads from two stores and writes to the first.
type both struct {
	blob.Store
	other blob.Store
}

// Open implements blob.Store.
func (b both) Open(ctx context.Context, d choir.Digest) (io.ReadCloser, error) {
	r, err := b.Store.Open(ctx, d)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return b.other.Open(ctx, d)
	}
	return r, err
}

// Size implements blob.Store.
func (b both) Size(ctx context.Context, d choir.Digest) (int64, error) {
	n, err := b.Store.Size(ctx, d)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return b.other.Size(ctx, d)
	}
	return n, err
}

// Compared is how the files of two computers differ now.
type Compared struct {
	workspace.Difference
	Files []moments.FileDiff
	Cut   bool // there are more
	// Common is the last event both have; 0 when they share no past.
	Common uint64
}

// Compare returns the differences between the current files of this computer and
// another. It changes nothing.
func (c *Copier) Compare(ctx context.Context, other *Copier) (Compared, error) {
	var out Compared
	var err error
	if out.Common, err = c.common(ctx, other); err != nil {
		return out, err
	}
	if out.From, err = c.treeNow(ctx); err != nil {
		return out, err
	}
	if out.To, err = other.treeNow(ctx); err != nil {
		return out, err
	}
	keeper := snapshot.NewKeeper(both{c.blobs, other.blobs})
	if out.Changes, err = snapshot.Diff(ctx, keeper, out.From, out.To); err != nil {
		return out, err
	}
	out.Files, out.Cut, err = moments.TextDiff(ctx, keeper, out.Difference)
	return out, err
}

// treeNow returns the current workspace, or its last snapshot if the sandbox does not
// run.
func (c *Copier) treeNow(ctx context.Context) (choir.Digest, error) {
	if err := c.workspace.RecordNow(ctx); err != nil {
		return "", err
	}
	root, err := c.workspace.LastSnapshot(ctx)
	if err == nil && root == "" {
		err = choir.Refuse("computer.tree", choir.ReasonNoSnapshotYet, choir.TextOf("name", c.cfg.Name))
	}
	return root, err
}

// common returns the number of the last event that two logs share, 0 for none. It
// searches by bisection, because equal hashes mean equal pasts.
func (c *Copier) common(ctx context.Context, other *Copier) (uint64, error) {
	a, _ := c.log.Head()
	b, _ := other.log.Head()
	var failed error
	n := sort.Search(int(min(a, b)), func(i int) bool {
		same, err := sameEvent(ctx, c, other, uint64(i)+1)
		failed = firstError(failed, err)
		return !same
	})
	return uint64(n), failed
}

func sameEvent(ctx context.Context, a, b *Copier, seq uint64) (bool, error) {
	var hashes [2]choir.Digest
	for i, c := range []*Copier{a, b} {
		e, err := c.log.At(ctx, seq)
		if err != nil {
			return false, choir.Wrap("computer.compare", "", err, "the log of %s", c.cfg.Name)
		}
		hashes[i] = e.Hash
	}
	return hashes[0] == hashes[1], nil
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// TakeChanges merges the changes of another computer since the common past into this
// one: all, or those at and below paths. Files that look like keys are not copied. Code
// conflict, with the paths in Applied: this computer has other changes there; nothing
// was changed. With dryRun it changes nothing and returns what would change.
func (c *Copier) TakeChanges(ctx context.Context, role choir.Role, from *Copier, paths []string, dryRun bool) (treemerge.Applied, error) {
	if from == c {
		return treemerge.Applied{}, choir.RefuseField("from", choir.ReasonTakeFromItself)
	}
	at, err := c.common(ctx, from)
	if err != nil {
		return treemerge.Applied{}, err
	}
	if at == 0 {
		return treemerge.Applied{}, choir.Refuse("computer.take", choir.ReasonNoSharedPast, choir.TextOf("name", c.cfg.Name), choir.TextOf("other", from.cfg.Name))
	}
	theirs, err := from.treeNow(ctx)
	if err != nil {
		return treemerge.Applied{}, err
	}
	base, err := c.moments.Tree(ctx, at)
	if err != nil {
		return treemerge.Applied{}, err
	}
	keeper := snapshot.NewKeeper(both{c.blobs, from.blobs})
	if base, theirs, err = withoutKeys(ctx, keeper, base, theirs); err != nil {
		return treemerge.Applied{}, err
	}
	if theirs, err = onlyPaths(ctx, keeper, base, theirs, paths); err != nil {
		return treemerge.Applied{}, err
	}
	if err := c.fetch(ctx, from, keeper, base, theirs); err != nil {
		return treemerge.Applied{}, err
	}
	head, _ := from.log.Head()
	return c.merger.Apply(ctx, role, treemerge.Step{
		Base: base, Theirs: theirs, Reason: "taken", Terminal: choir.TerminalTaken, Words: "Changes of another computer were taken; this terminal has ended.",
		Record: func(before, now choir.Digest, files int64) choir.Payload {
			return choir.ChangesTaken{From: from.cfg.Computer, Seq: head, Snapshot: now, Before: before, Files: files}
		},
	}, dryRun)
}

func withoutKeys(ctx context.Context, keeper *snapshot.Keeper, a, b choir.Digest) (choir.Digest, choir.Digest, error) {
	a, _, err := timeline.WithoutKeys(ctx, keeper, a)
	if err != nil {
		return "", "", err
	}
	b, _, err = timeline.WithoutKeys(ctx, keeper, b)
	return a, b, err
}

// onlyPaths returns the tree base with the changes of theirs at and below paths; with
// all changes if there are no paths.
func onlyPaths(ctx context.Context, keeper *snapshot.Keeper, base, theirs choir.Digest, paths []string) (choir.Digest, error) {
	if len(paths) == 0 {
		return theirs, nil
	}
	changes, err := snapshot.Diff(ctx, keeper, base, theirs)
	if err != nil {
		return "", err
	}
	changes = snapshot.Apart(changes)
	wanted := map[string]bool{}
	for _, p := range paths {
		p = strings.Trim(p, "/")
		found := false
		for _, ch := range changes {
			isBelow := workspace.Below(ch.Path, []string{p})
			// The folders that a path needs come with it.
			if isBelow || workspace.IsFolder(ch.After) && ch.Before == nil && workspace.Below(p, []string{ch.Path}) {
				wanted[ch.Path], found = true, found || isBelow
			}
		}
		if !found {
			return "", choir.Refuse("computer.take", choir.ReasonNothingChangedThere, choir.TextOf("path", p))
		}
	}
	return timeline.Graft(ctx, keeper, base, theirs, slices.Sorted(maps.Keys(wanted)))
}

// fetch copies the missing content of trees from the other computer's store.
func (c *Copier) fetch(ctx context.Context, from *Copier, keeper *snapshot.Keeper, roots ...choir.Digest) error {
	var lacking []choir.Digest
	for _, root := range roots {
		all, err := treeDigests(ctx, keeper, root)
		if err != nil {
			return err
		}
		for _, d := range all {
			_, err := c.blobs.Size(ctx, d)
			if choir.CodeOf(err) == choir.CodeNotFound {
				lacking = append(lacking, d)
				continue
			}
			// No event leads to it yet, and a collection may come before one does.
			if store, ok := c.blobs.(blob.Collector); err == nil && ok {
				err = store.Touch(ctx, d)
			}
			if err != nil {
				return err
			}
		}
	}
	slices.Sort(lacking)
	return blob.Transfer(ctx, from.blobs, c.blobs, slices.Compact(lacking))
}
