package snapshot

import (
	"context"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// Change is one path that differs between two trees. Path and From are escaped and
// relative to the root, which is "".
type Change struct {
	Path   string
	From   string // former path, of a renamed file
	Kind   choir.ChangeKind
	Before *Entry // nil when added
	After  *Entry // nil when deleted
}

// Diff returns the changes from tree a to tree b, sorted by path. A deleted and an added
// file with equal, non-empty content are one rename. Changes of a folder itself (added,
// deleted, another mode or time) are changes of their own; see TimeOnly and FileChanges
// to leave them out.
func Diff(ctx context.Context, get Getter, a, b choir.Digest) ([]Change, error) {
	d := differ{ctx: ctx, get: get}
	from, to, err := d.roots(a, b)
	if err != nil {
		return nil, err
	}
	if err := d.pair("", from, to, 0); err != nil {
		return nil, err
	}
	changes := PairRenames(d.changes)
	slices.SortFunc(changes, func(x, y Change) int { return strings.Compare(x.Path, y.Path) })
	return changes, nil
}

// TimeOnly reports whether only the modification time of the path differs.
func (c *Change) TimeOnly() bool {
	if c.Kind != choir.ChangeModified {
		return false
	}
	x, y := *c.Before, *c.After
	x.MTime, y.MTime = Stamp{}, Stamp{}
	if x.Kind == Dir {
		x.Sum, y.Sum = Sum{}, Sum{} // what is in a folder is changes of their own
	}
	return x == y
}

// FileChanges returns the changes of files, links and fifos in the form of task results,
// as people and git see them. Changes of folders, and of a modification time alone, are
// left out.
func FileChanges(changes []Change) []choir.FileChange {
	var out []choir.FileChange
	for i := range changes {
		c := &changes[i]
		before, after := c.Before != nil && c.Before.Kind != Dir, c.After != nil && c.After.Kind != Dir
		kind := c.Kind
		switch {
		case !before && !after || c.TimeOnly():
			continue
		case !before:
			kind = choir.ChangeAdded
		case !after:
			kind = choir.ChangeDeleted
		}
		out = append(out, choir.FileChange{Path: c.Path, Change: kind, From: c.From})
	}
	return out
}

type differ struct {
	ctx     context.Context
	get     Getter
	changes []Change
}

func (d *differ) roots(a, b choir.Digest) (from, to *Entry, err error) {
	from, to = &Entry{Kind: Dir}, &Entry{Kind: Dir}
	var ok1, ok2 bool
	from.Sum, ok1 = a.Bytes()
	to.Sum, ok2 = b.Bytes()
	if !ok1 || !ok2 {
		return nil, nil, choir.Invalid("snapshot", "%q and %q must be digests", a, b)
	}
	return from, to, nil
}

// pair compares the entries of two trees at one path, and everything below, and records
// the differences. Either entry may be nil.
func (d *differ) pair(path string, a, b *Entry, depth int) error {
	if a != nil && b != nil && *a == *b {
		return nil
	}
	var from, to []Entry
	var err error
	if a != nil && a.Kind == Dir {
		if from, err = d.open(path, a, depth); err != nil {
			return err
		}
	}
	if b != nil && b.Kind == Dir {
		if to, err = d.open(path, b, depth); err != nil {
			return err
		}
	}
	d.note(path, a, b)
	return d.entries(path, from, to, depth)
}

// note records a change of the path itself, without those below it. A folder with equal
// mode and time on both sides is no change.
func (d *differ) note(path string, a, b *Entry) {
	c := Change{Path: path, Before: a, After: b}
	switch {
	case a == nil:
		c.Kind = choir.ChangeAdded
	case b == nil:
		c.Kind = choir.ChangeDeleted
	case a.Kind == Dir && b.Kind == Dir && a.Mode == b.Mode && a.MTime == b.MTime:
		return
	default:
		c.Kind = choir.ChangeModified
	}
	d.changes = append(d.changes, c)
}

// entries compares two lists of a folder's entries, both sorted by name, and everything
// below them.
func (d *differ) entries(path string, from, to []Entry, depth int) error {
	for len(from) > 0 || len(to) > 0 {
		var a, b *Entry
		switch {
		case len(to) == 0 || len(from) > 0 && from[0].Name < to[0].Name:
			a, from = &from[0], from[1:]
		case len(from) == 0 || to[0].Name < from[0].Name:
			b, to = &to[0], to[1:]
		default:
			a, b, from, to = &from[0], &to[0], from[1:], to[1:]
		}
		name := a
		if a == nil {
			name = b
		}
		if err := d.pair(join(path, name.Name), a, b, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// open reads the manifest of the folder e, sets e's mode and time from it, and returns
// the folder's entries.
func (d *differ) open(path string, e *Entry, depth int) ([]Entry, error) {
	m, err := readManifest(d.ctx, d.get, path, e.Digest(), depth)
	if err != nil {
		return nil, err
	}
	e.Mode, e.MTime = m.Mode, m.MTime
	return m.Entries, nil
}

// PairRenames merges a deleted and an added file of equal, non-empty content into one
// rename and returns the remaining changes. Of several candidates each is used once, in
// the order of the list. It reuses the slice.
func PairRenames(changes []Change) []Change {
	gone := map[Sum][]int{}
	for i := range changes {
		if c := &changes[i]; c.Kind == choir.ChangeDeleted && c.Before.Kind == File && c.Before.Size > 0 {
			gone[c.Before.Sum] = append(gone[c.Before.Sum], i)
		}
	}
	paired := map[int]bool{}
	for i := range changes {
		c := &changes[i]
		if c.Kind != choir.ChangeAdded || c.After.Kind != File || len(gone[c.After.Sum]) == 0 {
			continue
		}
		old := gone[c.After.Sum][0]
		gone[c.After.Sum] = gone[c.After.Sum][1:]
		paired[old] = true
		c.Kind, c.From, c.Before = choir.ChangeRenamed, changes[old].Path, changes[old].Before
	}
	kept := changes[:0]
	for i := range changes {
		if !paired[i] {
			kept = append(kept, changes[i])
		}
	}
	return kept
}
