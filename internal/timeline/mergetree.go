package timeline

import (
	"context"
	"maps"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// tree is a snapshot under modification. Its folders are read when they are needed.
type tree struct {
	ctx     context.Context
	keeper  *snapshot.Keeper
	intake  *snapshot.Intake
	root    *branch
	covered []Conflict // what was to be no folder and still has something in it
}

// branch is a folder of the tree whose manifest was read.
type branch struct {
	entry   snapshot.Entry // with the mode and time it is to have
	items   map[string]*item
	changed bool // it, or something below, has to be written
	renamed bool // a name came or went
	timed   bool // its time was set by a change
}

// item is one entry of a folder in the tree.
type item struct {
	entry snapshot.Entry
	below *branch // of a folder once it was read, and of what was one
	gone  bool    // removed, as soon as nothing is below
}

func openTree(ctx context.Context, keeper *snapshot.Keeper, root choir.Digest) (*tree, error) {
	sum, ok := root.Bytes()
	if !ok {
		return nil, choir.Invalid("snapshot", "%q is not a digest", root)
	}
	t := &tree{ctx: ctx, keeper: keeper}
	var err error
	if t.root, err = t.read(snapshot.Entry{Kind: snapshot.Dir, Sum: sum}); err == nil {
		t.intake, err = keeper.NewIntake(ctx)
	}
	return t, err
}

func (t *tree) read(e snapshot.Entry) (*branch, error) {
	raw, err := t.keeper.Manifest(t.ctx, e.Digest())
	if err != nil {
		return nil, err
	}
	m, err := snapshot.DecodeManifest(raw)
	if err != nil {
		return nil, choir.Wrap("timeline.merge", choir.CodeCorrupt, err, "the manifest of %q", e.Name)
	}
	b := &branch{entry: e, items: make(map[string]*item, len(m.Entries))}
	b.entry.Mode, b.entry.MTime = m.Mode, m.MTime
	for _, e := range m.Entries {
		b.items[e.Name] = &item{entry: e}
	}
	return b, nil
}

func newBranch(name string) *branch {
	return &branch{entry: snapshot.Entry{Name: name, Kind: snapshot.Dir, Mode: 0o755}, items: map[string]*item{}}
}

// folderOf returns the folder that an item is, or was before its removal; nil if it
// never was a folder.
func (t *tree) folderOf(i *item) (_ *branch, err error) {
	if i == nil {
		return nil, nil
	}
	if i.below == nil && i.entry.Kind == snapshot.Dir {
		i.below, err = t.read(i.entry)
	}
	return i.below, err
}

// foldersTo returns the folders from the root to the parent of a path, and the path's
// last name. It returns none if a folder is missing; with grow it creates missing
// folders.
func (t *tree) foldersTo(path string, grow bool) ([]*branch, string, error) {
	raw, err := snapshot.UnescapePath(path)
	if err != nil {
		return nil, "", err
	}
	names := strings.Split(string(raw), "/")
	last := len(names) - 1
	way := []*branch{t.root}
	for _, name := range names[:last] {
		at := way[len(way)-1]
		i := at.items[name]
		if i == nil && grow {
			i = &item{entry: snapshot.Entry{Name: name, Kind: snapshot.Dir}, below: newBranch(name)}
			at.items[name], at.renamed, i.below.renamed = i, true, true
		}
		below, err := t.folderOf(i)
		if err != nil || below == nil || grow && i.entry.Kind != snapshot.Dir {
			return nil, "", err
		}
		way = append(way, below)
	}
	return way, names[last], nil
}

// get returns the entry at a path, nil if there is none. The entry of a folder has its
// mode and time.
func (t *tree) get(path string) (*snapshot.Entry, error) {
	if path == "" {
		root := t.root.entry
		return &root, nil
	}
	way, name, err := t.foldersTo(path, false)
	if err != nil || way == nil {
		return nil, err
	}
	i := way[len(way)-1].items[name]
	if i == nil || i.gone {
		return nil, nil
	}
	below, err := t.folderOf(i)
	if err != nil {
		return nil, err
	}
	e := i.entry
	if e.Kind == snapshot.Dir {
		e = below.entry
	}
	return &e, nil
}

// set stores an entry at a path and creates missing parent folders. It reports false if
// a parent is no folder.
func (t *tree) set(path string, e *snapshot.Entry) (bool, error) {
	if path == "" {
		t.root.setMeta(e)
		return true, nil
	}
	way, name, err := t.foldersTo(path, true)
	if err != nil || way == nil {
		return false, err
	}
	at := way[len(way)-1]
	i := at.items[name]
	if i == nil {
		i = &item{}
		at.items[name], at.renamed = i, true
	}
	if _, err := t.folderOf(i); err != nil {
		return false, err
	}
	written(way)
	i.gone, i.entry = false, *e
	i.entry.Name = name
	if e.Kind == snapshot.Dir {
		if i.below == nil {
			i.below = newBranch(name)
		}
		i.below.setMeta(e)
	}
	return true, nil
}

// setMeta sets the folder's mode and time to those of an entry.
func (b *branch) setMeta(e *snapshot.Entry) {
	b.entry.Mode, b.entry.MTime = e.Mode, e.MTime
	b.changed, b.timed = true, true
}

func written(way []*branch) {
	for _, b := range way {
		b.changed = true
	}
}

// remove removes a path. A folder is removed only if it is empty when the tree is
// written.
func (t *tree) remove(path string) error {
	way, name, err := t.foldersTo(path, false)
	if err != nil || way == nil {
		return err
	}
	if i := way[len(way)-1].items[name]; i != nil {
		i.gone = true
		written(way)
	}
	return nil
}

// write stores the changed tree in the intake and returns its digest. Folders that gained
// or lost a name get the time now.
func (t *tree) write(now snapshot.Stamp) (choir.Digest, error) {
	sum, _, err := t.folder(t.root, "", now)
	return choir.DigestFrom(sum), err
}

// folder stores the manifest of a folder and of the folders below. It returns the
// folder's digest; empty reports that it has no entries.
func (t *tree) folder(b *branch, path string, now snapshot.Stamp) (sum snapshot.Sum, empty bool, err error) {
	m := snapshot.Manifest{Mode: b.entry.Mode, MTime: b.entry.MTime}
	for _, name := range slices.Sorted(maps.Keys(b.items)) {
		i := b.items[name]
		stays, err := t.item(i, strings.TrimPrefix(path+"/"+snapshot.EscapePath([]byte(name)), "/"), now)
		if err != nil {
			return sum, false, err
		}
		if stays {
			m.Entries = append(m.Entries, i.entry)
		} else {
			b.renamed = true
		}
	}
	if b.renamed && !b.timed {
		m.MTime = now
	}
	raw := m.Encode()
	d := choir.DigestOf(raw)
	sum, _ = d.Bytes()
	return sum, len(m.Entries) == 0, t.intake.Add(t.ctx, snapshot.Object{Digest: d, Manifest: true, Size: int64(len(raw)), Content: raw})
}

// item stores the manifests below an item and reports whether the item remains in its
// folder. An entry that replaces a folder which still has entries is recorded in
// t.covered.
func (t *tree) item(i *item, path string, now snapshot.Stamp) (bool, error) {
	folder := i.entry.Kind == snapshot.Dir
	if i.below == nil || folder && !i.gone && !i.below.changed {
		if i.gone && folder {
			return t.hasEntries(i)
		}
		return !i.gone, nil
	}
	sum, empty, err := t.folder(i.below, path, now)
	if err != nil {
		return false, err
	}
	if folder {
		i.entry.Sum = sum
		return !i.gone || !empty, nil
	}
	if !empty {
		there := i.below.entry
		t.covered = append(t.covered, Conflict{Path: path, Theirs: &i.entry, Ours: &there})
	}
	return !i.gone, nil
}

// hasEntries reports whether a folder of the tree that was not read yet has entries.
func (t *tree) hasEntries(i *item) (bool, error) {
	b, err := t.folderOf(i)
	return err == nil && len(b.items) > 0, err
}
