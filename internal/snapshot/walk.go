package snapshot

import (
	"context"

	"choiros/internal/choir"
)

// Walk calls fn for every path of a tree, each folder before its entries, names in byte
// order. path is escaped, "" for the root. An error of fn ends the walk and is returned.
func Walk(ctx context.Context, get Getter, root choir.Digest, fn func(path string, e *Entry) error) error {
	sum, ok := root.Bytes()
	if !ok {
		return choir.Invalid("snapshot", "%q is not a digest", root)
	}
	return walk(ctx, get, "", &Entry{Kind: Dir, Sum: sum}, 0, fn)
}

func walk(ctx context.Context, get Getter, path string, e *Entry, depth int, fn func(string, *Entry) error) error {
	if e.Kind != Dir {
		return fn(path, e)
	}
	m, err := readManifest(ctx, get, path, e.Digest(), depth)
	if err != nil {
		return err
	}
	e.Mode, e.MTime = m.Mode, m.MTime
	if err := fn(path, e); err != nil {
		return err
	}
	for i := range m.Entries {
		child := &m.Entries[i]
		if err := walk(ctx, get, join(path, child.Name), child, depth+1, fn); err != nil {
			return err
		}
	}
	return nil
}

// readManifest reads and decodes the manifest of the folder at an escaped path and depth,
// which errors name. A malformed manifest is code corrupt, a depth beyond MaxDepth
// too_large.
func readManifest(ctx context.Context, get Getter, path string, d choir.Digest, depth int) (Manifest, error) {
	if err := ctx.Err(); err != nil {
		return Manifest{}, choir.Wrap("snapshot.read", choir.CodeCancelled, err, "ended")
	}
	if depth > MaxDepth {
		return Manifest{}, &choir.Error{Op: "snapshot.read", Code: choir.CodeTooLarge, Path: path, Msg: "lies more than 1000 folders deep"}
	}
	raw, err := get.Manifest(ctx, d)
	if err != nil {
		return Manifest{}, choir.Wrap("snapshot.read", "", err, "the manifest of %q", path)
	}
	m, err := DecodeManifest(raw)
	if err != nil {
		return Manifest{}, choir.Wrap("snapshot.read", choir.CodeCorrupt, err, "the manifest of %q", path)
	}
	return m, nil
}
