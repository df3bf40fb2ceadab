package timeline

import (
	"context"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// Conflict is a path that both sides changed, each in its own way. Nil means
// that nothing is there.
type Conflict struct {
	Path               string // escaped
	Base, Theirs, Ours *snapshot.Entry
}

// Merged is what a merge gave.
type Merged struct {
	// Root is the merged tree, whole in the keeper; empty when there are conflicts.
	Root      choir.Digest
	Changes   []snapshot.Change // from ours to Root
	Conflicts []Conflict        // by path; with one, nothing was made
}

// Merge applies what changed from base to theirs onto ours, path by path. Text
// that both sides changed is merged by lines: changes that overlap or touch are
// a conflict, as is everything else that both changed differently. A folder that
// theirs removed stays while ours has something new in it. What only ours changed
// stays. A file whose text was merged, and a folder of ours that gains or loses a
// name, gets the time now; all else that comes from theirs comes with its time, so
// that with ours equal to base the result is theirs.
//
// What lies in a .git folder stays as ours, because every checkpoint moves its
// index and refs. Only whole folders come and go: one that neither base nor ours
// has comes back, and one that ours still has as base had it is removed.
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
	if err := m.all(snapshot.Apart(changes)); err != nil || len(m.conflicts) > 0 {
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

// merge is one run of Merge.
type merge struct {
	ctx       context.Context
	keeper    *snapshot.Keeper
	tree      *tree // ours, as far as it is merged
	now       snapshot.Stamp
	whole     map[string]bool // .git folders that come or go
	conflicts []Conflict
}

// all takes the changes up, folders before what is in them.
func (m *merge) all(changes []snapshot.Change) error {
	for i := range changes {
		c := &changes[i]
		leave, err := m.leave(c)
		if err == nil && !leave {
			err = m.change(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leave says whether a change is git's own, and stays out.
func (m *merge) leave(c *snapshot.Change) (bool, error) {
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

// gitFolder is the .git a path is or lies in; empty for none.
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

// change applies one path.
func (m *merge) change(c *snapshot.Change) error {
	ours, err := m.tree.get(c.Path)
	if err != nil {
		return err
	}
	switch {
	case exactly(ours, c.Before):
		return m.put(c, c.After)
	case alike(ours, c.Before) && !c.TimeOnly():
		return m.put(c, m.later(c.After))
	case alike(ours, c.After), c.TimeOnly():
		return nil
	}
	both, err := m.both(c, ours)
	if err != nil || both == nil {
		if both == nil && err == nil {
			m.conflicts = append(m.conflicts, Conflict{c.Path, c.Before, c.After, ours})
		}
		return err
	}
	if alike(both, ours) {
		return nil
	}
	return m.put(c, both)
}

// later is an entry of theirs for a path that ours touched since: a folder has
// the time now.
func (m *merge) later(e *snapshot.Entry) *snapshot.Entry {
	if e == nil || e.Kind != snapshot.Dir {
		return e
	}
	touched := *e
	touched.MTime = m.now
	return &touched
}

// put makes a path what it is to be, or a conflict when ours has no place for it.
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

// both merges what both sides changed; nil is a conflict.
func (m *merge) both(c *snapshot.Change, ours *snapshot.Entry) (*snapshot.Entry, error) {
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

// exactly says whether two entries are the same, time included; what is in a
// folder is paths of their own.
func exactly(a, b *snapshot.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := *a, *b
	if x.Kind == snapshot.Dir {
		x.Sum, y.Sum = snapshot.Sum{}, snapshot.Sum{}
	}
	return x == y
}

// alike is exactly, whatever the times.
func alike(a, b *snapshot.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := *a, *b
	x.MTime, y.MTime = snapshot.Stamp{}, snapshot.Stamp{}
	return exactly(&x, &y)
}
