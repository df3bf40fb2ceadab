package workspace

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/guest"
)

// trashDir holds what people threw away, in the workspace: it is in snapshots and
// goes back with them, and git is told to ignore it. Each item has a folder of its
// own, named by an id that says when:
//
//	.trash/<id>/from            the path it had, escaped
//	.trash/<id>/item/<name>     the thing itself
const trashDir = ".trash"

// trash keeps the paths that people threw away or that were in the way of a restore.
type trash struct {
	tree    *tree
	edits   *edits
	remover *remover
}

// maxFrom is the largest number of bytes that are read of a "from" file.
const maxFrom = 4096

// Trashed is one item in the trash.
type Trashed struct {
	ID   choir.ID        `json:"id"`
	From string          `json:"from" doc:"Path it had."`
	File choir.FileState `json:"file" doc:"Where it lies now."`
	At   choir.Time      `json:"at" doc:"When it was thrown away."`
}

// Discarding is one path to throw away, with its precondition.
type Discarding struct {
	Path string
	Want Expect
}

// Discard moves paths to the trash, after checking all. If one check fails nothing is
// moved.
func (tr *trash) Discard(ctx context.Context, role choir.Role, items []Discarding) ([]Trashed, error) {
	for i, d := range items {
		if err := checkPath(d.Path); err != nil {
			return nil, err
		}
		if Below(d.Path, []string{trashDir}) {
			return nil, choir.Refuse("computer.trash", choir.ReasonInTrash, choir.TextOf("path", d.Path)).At("path")
		}
		for _, other := range items[:i] {
			if Below(d.Path, []string{other.Path}) || Below(other.Path, []string{d.Path}) {
				return nil, choir.Refuse("computer.trash", choir.ReasonOneInsideOther, choir.TextOf("path", d.Path), choir.TextOf("other", other.Path)).At("path")
			}
		}
	}
	ch := change{
		check: func(root choir.Digest) error {
			for _, d := range items {
				there, err := tr.tree.Lookup(ctx, root, d.Path)
				if err == nil && there == nil && !tr.isLeft(ctx, d.Path) {
					err = choir.Refuse("computer.file", choir.ReasonPathMissing, choir.TextOf("path", d.Path)).At(d.Path)
				}
				if err == nil {
					err = d.Want.check(d.Path, there)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	for _, d := range items {
		ch.paths = append(ch.paths, d.Path)
	}
	ch.paths = append(ch.paths, trashDir)
	var out []Trashed
	ch.do = func(client *guest.Client) error {
		for _, d := range items {
			t, err := tr.discard(ctx, client, d.Path)
			if err != nil {
				return err
			}
			out = append(out, t)
		}
		return nil
	}
	after, err := tr.edits.applyEdit(ctx, role, ch)
	if err != nil {
		return nil, err
	}
	for i := range out {
		e, err := tr.tree.Lookup(ctx, after.Root, out[i].File.Path)
		if err != nil {
			return nil, err
		}
		out[i].File = stateOf(out[i].File.Path, e)
	}
	return out, nil
}

// isLeft reports whether something exists at a path, in a snapshot or not.
func (tr *trash) isLeft(ctx context.Context, path string) bool {
	client, err := tr.tree.sandbox.Guest(ctx)
	if err != nil {
		return false
	}
	_, err = client.Stat(ctx, path)
	return err == nil
}

// discard moves one path to the trash. The caller holds the tree.
func (tr *trash) discard(ctx context.Context, client *guest.Client, path string) (Trashed, error) {
	id, err := tr.tree.events.NewID()
	if err != nil {
		return Trashed{}, err
	}
	folder := trashDir + "/" + string(id)
	item := folder + "/item/" + path[strings.LastIndexByte(path, '/')+1:]
	if err := makeParents(ctx, client, item); err != nil {
		return Trashed{}, err
	}
	if _, err := client.Stat(ctx, trashDir+"/.gitignore"); choir.CodeOf(err) == choir.CodeNotFound {
		if _, err := client.WriteFile(ctx, trashDir+"/.gitignore", 0, strings.NewReader("*\n")); err != nil {
			return Trashed{}, err
		}
	}
	// The note comes first: without its item it is swept up when the trash is
	// emptied, an item without it would belong nowhere.
	if _, err := client.WriteFile(ctx, folder+"/from", 0, strings.NewReader(path)); err != nil {
		return Trashed{}, err
	}
	t := Trashed{ID: id, From: path, File: choir.FileState{Path: item}, At: id.Time()}
	return t, client.Rename(ctx, path, item)
}

// Trash lists the items in the trash, newest first, and skips entries that are no
// items.
func (tr *trash) Trash(ctx context.Context) ([]Trashed, error) {
	client, err := tr.tree.sandbox.Guest(ctx)
	if err != nil {
		return nil, err
	}
	items := []Trashed{}
	for after, more := "", true; more; {
		page, err := client.List(ctx, trashDir, after, 0)
		if err != nil {
			return items, Ignore(err, choir.CodeNotFound)
		}
		for _, e := range page.Entries {
			after = e.Path[len(trashDir)+1:]
			t, err := readTrashed(ctx, client, choir.ID(after))
			if err == nil {
				items = append(items, t)
			} else if ctx.Err() != nil {
				return nil, err
			}
		}
		more = page.More
	}
	slices.Reverse(items) // ids are in the order of time
	return items, nil
}

// readTrashed reads one item of the trash. Tasks can forge any part of it, so all of it
// is validated.
func readTrashed(ctx context.Context, client *guest.Client, id choir.ID) (Trashed, error) {
	none := choir.Refuse("computer.trash", choir.ReasonNotInTrash, choir.TextOf("id", id))
	if !id.ValidV7() {
		return Trashed{}, none
	}
	folder := trashDir + "/" + string(id)
	note, err := client.ReadFile(ctx, folder+"/from")
	if err != nil {
		return Trashed{}, none
	}
	defer note.Close()
	from, err := io.ReadAll(io.LimitReader(note, maxFrom+1))
	if err != nil {
		return Trashed{}, err
	}
	from = bytes.TrimSuffix(from, []byte{'\n'})
	if Ignore(checkPath(string(from)), choir.CodeRefused) != nil {
		return Trashed{}, none
	}
	page, err := client.List(ctx, folder+"/item", "", 2)
	if err != nil || len(page.Entries) != 1 {
		return Trashed{}, none
	}
	return Trashed{ID: id, From: string(from), File: page.Entries[0], At: id.Time()}, nil
}

// Restore moves an item of the trash to its former path, or to path to. Code not_found:
// there is no such item; conflict: the path is occupied.
func (tr *trash) Restore(ctx context.Context, role choir.Role, id choir.ID, to string) (choir.FileState, error) {
	client, err := tr.tree.sandbox.Guest(ctx)
	if err != nil {
		return choir.FileState{}, err
	}
	t, err := readTrashed(ctx, client, id)
	if err != nil {
		return choir.FileState{}, err
	}
	if to == "" {
		to = t.From
	}
	if err := checkPath(to); err != nil {
		return choir.FileState{}, choir.Under("to", err)
	}
	after, err := tr.edits.applyEdit(ctx, role, change{
		paths: []string{trashDir + "/" + string(id), to},
		check: func(root choir.Digest) error {
			there, err := tr.tree.Lookup(ctx, root, to)
			if err != nil {
				return err
			}
			return Expect{Absent: true}.check(to, there)
		},
		do: func(client *guest.Client) error {
			if err := makeParents(ctx, client, to); err != nil {
				return err
			}
			if err := client.Rename(ctx, t.File.Path, to); err != nil {
				return err
			}
			return client.Remove(ctx, trashDir+"/"+string(id), true)
		},
	})
	if err != nil {
		return choir.FileState{}, err
	}
	now, err := tr.tree.Lookup(ctx, after.Root, to)
	return stateOf(to, now), err
}

// EmptyTrash removes one item of the trash for good, or all if id is empty. Snapshots
// still have the items that they hold. The items are out of the tree when it returns;
// the remover deletes them later.
func (tr *trash) EmptyTrash(ctx context.Context, role choir.Role, id choir.ID) error {
	path := trashDir
	if id != "" {
		if !id.ValidV7() {
			return choir.Refuse("computer.trash", choir.ReasonNoTrashItem, choir.TextOf("id", id)).At("id")
		}
		path += "/" + string(id)
	}
	_, err := tr.edits.applyEdit(ctx, role, change{
		paths: []string{path},
		check: func(root choir.Digest) error {
			there, err := tr.tree.Lookup(ctx, root, path)
			if err == nil && there == nil && id != "" && !tr.isLeft(ctx, path) {
				err = choir.Refuse("computer.trash", choir.ReasonNotInTrash, choir.TextOf("id", id))
			}
			return err
		},
		do: func(client *guest.Client) error {
			return Ignore(tr.remover.removeLater(ctx, client, path), choir.CodeNotFound)
		},
	})
	return err
}
