package timeline

import (
	"context"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// Graft makes a tree that is base with the given escaped paths replaced by those in the
// tree from, and returns its digest. A path that from lacks is removed. For a folder only
// its mode and time are taken; its entries are paths of their own. The keeper has the
// tree when Graft returns.
func Graft(ctx context.Context, keeper *snapshot.Keeper, base, from choir.Digest, paths []string) (choir.Digest, error) {
	t, err := openTree(ctx, keeper, base)
	if err != nil {
		return "", err
	}
	defer t.intake.Discard()
	source := &tree{ctx: ctx, keeper: keeper}
	sum, ok := from.Bytes()
	if !ok {
		return "", choir.Invalid("from", "%q is not a digest", from)
	}
	if source.root, err = source.read(snapshot.Entry{Kind: snapshot.Dir, Sum: sum}); err != nil {
		return "", err
	}
	for _, path := range paths {
		if err := t.graft(source, path); err != nil {
			return "", err
		}
	}
	root, err := t.write(t.root.entry.MTime)
	if err == nil {
		_, _, err = t.intake.Commit(ctx, root)
	}
	return root, err
}

// graft copies the entry at one path from another tree, or removes the path if that tree
// lacks it. A folder's entries are not copied.
func (t *tree) graft(source *tree, path string) error {
	e, err := source.get(path)
	if err != nil {
		return err
	}
	if e == nil {
		return t.remove(path)
	}
	// A folder's content is paths of their own.
	_, err = t.set(path, e)
	return err
}
