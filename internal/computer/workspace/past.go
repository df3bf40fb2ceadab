package workspace

import (
	"context"
	"errors"
	"io"
	"slices"
	"sort"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// past reads the tree as of earlier events from stored content, without the sandbox.
type past struct{ tree *tree }

// FolderAt lists all entries of a folder of the workspace as of event seq, including
// .git; the empty path is the workspace itself. For a path that is a file it returns
// that file alone.
func (p *past) FolderAt(ctx context.Context, seq uint64, path string) ([]choir.FileState, error) {
	e, entries, err := p.entriesAt(ctx, seq, path)
	if err != nil {
		return nil, err
	}
	if e.Kind != snapshot.Dir {
		return []choir.FileState{e.State(path)}, nil
	}
	return statesIn(path, entries), nil
}

// ListFolderAt is ListFolder as of event seq.
func (p *past) ListFolderAt(ctx context.Context, seq uint64, path, after string, limit int) (FolderPage, error) {
	page := FolderPage{}
	from, err := snapshot.UnescapePath(after)
	if err != nil {
		return page, choir.Under("after", err)
	}
	e, entries, err := p.entriesAt(ctx, seq, path)
	if err != nil {
		return page, err
	}
	dated, err := p.dateFolders(ctx, []snapshot.Entry{*e})
	if err != nil {
		return page, err
	}
	page.Folder = dated[0].State(path)
	if e.Kind != snapshot.Dir {
		return page, choir.Refuse("computer.folder", choir.ReasonPathNoFolderThen, choir.TextOf("path", path)).At(path)
	}
	if after != "" {
		entries = entries[sort.Search(len(entries), func(i int) bool { return entries[i].Name > string(from) }):]
	}
	page.More = len(entries) > limit
	if dated, err = p.dateFolders(ctx, entries[:min(limit, len(entries))]); err != nil {
		return page, err
	}
	page.Entries = statesIn(path, dated)
	return page, nil
}

// dateFolders returns a copy of entries in which folders have the mode and time from
// their own manifests.
func (p *past) dateFolders(ctx context.Context, entries []snapshot.Entry) ([]snapshot.Entry, error) {
	dated := slices.Clone(entries)
	for i := range dated {
		e := &dated[i]
		if e.Kind != snapshot.Dir {
			continue
		}
		manifest, err := p.tree.keeper.Content(ctx, e.Digest())
		if err != nil {
			return nil, err
		}
		e.Mode, e.MTime, err = snapshot.ReadMeta(manifest)
		if err = errors.Join(err, manifest.Close()); err != nil {
			return nil, err
		}
	}
	return dated, nil
}

// entriesAt returns the entry at a path as of event seq, and for a folder its entries,
// sorted by name.
func (p *past) entriesAt(ctx context.Context, seq uint64, path string) (*snapshot.Entry, []snapshot.Entry, error) {
	e, err := p.entryAt(ctx, seq, path)
	if err != nil || e.Kind != snapshot.Dir {
		return e, nil, err
	}
	entries, err := p.tree.Entries(ctx, e.Digest())
	return e, entries, err
}

// statesIn converts entries of the folder at path to file states.
func statesIn(path string, entries []snapshot.Entry) []choir.FileState {
	list := make([]choir.FileState, 0, len(entries))
	for i := range entries {
		name := snapshot.EscapePath([]byte(entries[i].Name))
		list = append(list, entries[i].State(strings.TrimPrefix(path+"/"+name, "/")))
	}
	return list
}

// ReadFileAt opens a file as of event seq; the caller closes it. Code not_found:
// nothing was there; conflict: it was no file.
func (p *past) ReadFileAt(ctx context.Context, seq uint64, path string) (choir.FileState, io.ReadCloser, error) {
	e, err := p.entryAt(ctx, seq, path)
	if err != nil {
		return choir.FileState{}, nil, err
	}
	state := e.State(path)
	if e.Kind != snapshot.File {
		return state, nil, choir.Refuse("computer.file", choir.ReasonPathNoFileThen, choir.TextOf("path", path)).At(path)
	}
	content, err := p.tree.keeper.Content(ctx, e.Digest())
	return state, content, err
}

func (p *past) entryAt(ctx context.Context, seq uint64, path string) (*snapshot.Entry, error) {
	if err := p.tree.log.MustHave(seq); err != nil {
		return nil, err
	}
	root, err := p.tree.cfg.Moment(ctx, seq)
	if err != nil {
		return nil, err
	}
	if path == "" {
		sum, _ := root.Bytes()
		return &snapshot.Entry{Kind: snapshot.Dir, Sum: sum}, nil
	}
	e, err := p.tree.Lookup(ctx, root, path)
	if err == nil && e == nil {
		err = choir.Refuse("computer.file", choir.ReasonPathMissingThen, choir.TextOf("path", path), choir.CountOf("event", seq)).At(path)
	}
	return e, err
}
