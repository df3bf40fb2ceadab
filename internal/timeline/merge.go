package timeline

import (
	"context"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// Conflict is a path that both sides of a merge changed differently. A nil entry means
// that the side lacks the path.
type Conflict struct {
	Path               string // escaped
	Base, Theirs, Ours *snapshot.Entry
}

// Merged is the result of a merge.
type Merged struct {
	// Root is the merged tree, whole in the keeper; empty when there are conflicts.
	Root      choir.Digest
	Changes   []snapshot.Change // from ours to Root
	Conflicts []Conflict        // by path; with one, nothing was made
}

// Merge applies the changes from base to theirs to the tree ours, path by path, and
// returns the result or its conflicts. Text that both sides changed is merged by lines;
// overlapping or touching line changes, and all other different changes of one path, are
// conflicts. Changes only in ours stay. A folder removed in theirs stays while ours has
// something new in it. Merged files, and folders of ours that gain or lose a name, get
// the time now; other changed paths get the time of theirs, so that with ours equal to
// base the result is theirs.
//
// Paths in a .git folder stay as in ours, because every checkpoint changes its index and
// refs. Only whole .git folders are merged: a folder that neither base nor ours has is
// created, and a folder that is the same in base and ours is removed.
func Merge(ctx context.Context, keeper *snapshot.Keeper, base, theirs, ours choir.Digest, now snapshot.Stamp) (Merged, error) {
	changes, err := snapshot.Diff(ctx, keeper, base, theirs)
	if err != nil {
		return Merged{}, err
	}
	tree, err := openTree(ctx, keeper, ours)
	if err != nil {
		return Merged{}, err
	}
	defer tree.intake.Discard()
	m := merge{ctx: ctx, keeper: keeper, tree: tree, now: now, whole: map[string]bool{}}
	if err := m.applyAll(snapshot.Apart(changes)); err != nil || len(m.conflicts) > 0 {
		return Merged{Conflicts: m.conflicts}, err
	}
	root, err := tree.write(now)
	if err != nil {
		return Merged{}, err
	}
	if len(tree.covered) > 0 {
		return Merged{Conflicts: tree.covered}, nil
	}
	if _, _, err := tree.intake.Commit(ctx, root); err != nil {
		return Merged{}, err
	}
	changes, err = snapshot.Diff(ctx, keeper, ours, root)
	return Merged{Root: root, Changes: changes}, err
}

// merge is the state of one call of Merge.
type merge struct {
	ctx       context.Context
	keeper    *snapshot.Keeper
	tree      *tree // ours, as far as it is merged
	now       snapshot.Stamp
	whole     map[string]bool // .git folders that come or go
	conflicts []Conflict
}

// applyAll applies the changes in their order, in which folders precede their entries.
func (m *merge) applyAll(changes []snapshot.Change) error {
	for i := range changes {
		c := &changes[i]
		leave, err := m.isGitInternal(c)
		if err == nil && !leave {
			err = m.change(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isGitInternal reports whether a change lies in a .git folder that is not created or
// removed as a whole, so that Merge ignores it.
func (m *merge) isGitInternal(c *snapshot.Change) (bool, error) {
	top := gitFolder(c.Path)
	if top == "" || m.whole[top] {
		return false, nil
	}
	if c.Path != top || c.Before != nil && c.After != nil {
		return true, nil
	}
	ours, err := m.tree.get(top)
	if err != nil || ours == nil != (c.Before == nil) || ours != nil && ours.Sum != c.Before.Sum {
		return true, err
	}
	m.whole[top] = true
	return false, nil
}

// gitFolder returns the path of the .git folder that a path is or lies in; empty if there
// is none.
func gitFolder(path string) string {
	at := 0
	for part := range strings.SplitSeq(path, "/") {
		at += len(part)
		if part == ".git" {
			return path[:at]
		}
		at++
	}
	return ""
}

// change applies the change of one path, or records a conflict.
func (m *merge) change(c *snapshot.Change) error {
	ours, err := m.tree.get(c.Path)
	if err != nil {
		return err
	}
	switch {
	case equalEntries(ours, c.Before):
		return m.put(c, c.After)
	case equalButTime(ours, c.Before) && !c.TimeOnly():
		return m.put(c, m.timeOfMerge(c.After))
	case equalButTime(ours, c.After), c.TimeOnly():
		return nil
	}
	both, err := m.mergeBoth(c, ours)
	if err != nil || both == nil {
		if both == nil && err == nil {
			m.conflicts = append(m.conflicts, Conflict{c.Path, c.Before, c.After, ours})
		}
		return err
	}
	if equalButTime(both, ours) {
		return nil
	}
	return m.put(c, both)
}

// timeOfMerge returns an entry of theirs for a path that ours has touched since base: a
// folder gets the time of the merge.
func (m *merge) timeOfMerge(e *snapshot.Entry) *snapshot.Entry {
	if e == nil || e.Kind != snapshot.Dir {
		return e
	}
	touched := *e
	touched.MTime = m.now
	return &touched
}

// put stores an entry at the path of a change, or removes the path if e is nil. If a
// parent in ours is no folder it records a conflict.
func (m *merge) put(c *snapshot.Change, e *snapshot.Entry) error {
	if e == nil {
		return m.tree.remove(c.Path)
	}
	ok, err := m.tree.set(c.Path, e)
	if err == nil && !ok {
		m.conflicts = append(m.conflicts, Conflict{c.Path, c.Before, c.After, nil})
	}
	return err
}

// mergeBoth merges mode and content of a path that both sides changed. It returns nil for
// a conflict.
func (m *merge) mergeBoth(c *snapshot.Change, ours *snapshot.Entry) (*snapshot.Entry, error) {
	b, t, o := c.Before, c.After, ours
	if b == nil || t == nil || o == nil || b.Kind != t.Kind || t.Kind != o.Kind {
		return nil, nil
	}
	merged := *o
	merged.MTime = m.now
	switch {
	case o.Mode == b.Mode:
		merged.Mode = t.Mode
	case t.Mode != b.Mode && t.Mode != o.Mode:
		return nil, nil
	}
	switch {
	case o.Kind == snapshot.Dir, t.Sum == b.Sum && t.Target == b.Target, t.Sum == o.Sum && t.Target == o.Target:
		return &merged, nil
	case o.Sum == b.Sum && o.Target == b.Target:
		merged.Sum, merged.Size, merged.Target = t.Sum, t.Size, t.Target
		return &merged, nil
	case o.Kind != snapshot.File:
		return nil, nil
	}
	text, ok, err := m.text(b, t, o)
	if err != nil || !ok {
		return nil, err
	}
	d := choir.DigestOf([]byte(text))
	merged.Size = int64(len(text))
	merged.Sum, _ = d.Bytes()
	return &merged, m.tree.intake.Add(m.ctx, snapshot.Object{Digest: d, Size: merged.Size, Content: []byte(text)})
}

// equalEntries reports whether two entries are equal, including their time but not the
// content of folders. Two nil entries are equal.
func equalEntries(a, b *snapshot.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := *a, *b
	if x.Kind == snapshot.Dir {
		x.Sum, y.Sum = snapshot.Sum{}, snapshot.Sum{}
	}
	return x == y
}

// equalButTime reports whether two entries are equal apart from their time and the
// content of folders.
func equalButTime(a, b *snapshot.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := *a, *b
	x.MTime, y.MTime = snapshot.Stamp{}, snapshot.Stamp{}
	return equalEntries(&x, &y)
}
