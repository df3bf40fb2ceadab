package workspace

import (
	"context"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// Lookup returns the entry at a path of a snapshot; nil if there is none. A path
// through a symbolic link is refused.
func (t *tree) Lookup(ctx context.Context, root choir.Digest, path string) (*snapshot.Entry, error) {
	raw, err := snapshot.UnescapePath(path)
	if err != nil {
		return nil, err
	}
	sum, _ := root.Bytes()
	at := &snapshot.Entry{Kind: snapshot.Dir, Sum: sum}
	for _, name := range strings.Split(string(raw), "/") {
		if at.Kind == snapshot.Symlink {
			return nil, choir.Refuse("computer.file", choir.ReasonPathThroughLink, choir.TextOf("path", path)).At(path)
		}
		if at.Kind != snapshot.Dir {
			return nil, nil
		}
		entries, err := t.Entries(ctx, at.Digest())
		if err != nil {
			return nil, err
		}
		i, found := slices.BinarySearchFunc(entries, name, func(e snapshot.Entry, name string) int { return strings.Compare(e.Name, name) })
		if !found {
			return nil, nil
		}
		entry := entries[i] // the folder's entries are shared
		at = &entry
	}
	return at, nil
}

// Entries returns the entries of a folder, given by the digest of its manifest, sorted
// by name. The list is cached and must not be changed.
func (t *tree) Entries(ctx context.Context, manifest choir.Digest) ([]snapshot.Entry, error) {
	if entries, ok := t.folders.get(manifest); ok {
		return entries, nil
	}
	raw, err := t.keeper.Manifest(ctx, manifest)
	if err != nil {
		return nil, err
	}
	m, err := snapshot.DecodeManifest(raw)
	if err != nil {
		return nil, err
	}
	t.folders.put(manifest, m.Entries)
	return m.Entries, nil
}
