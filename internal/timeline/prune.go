package timeline

import (
	"context"
	"crypto/sha256"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// Prune makes the tree of a snapshot without the files for which drop returns true. It
// returns the digest of the tree and the escaped paths of the dropped files. Folders
// stay, with their times. The keeper has the new manifests when Prune returns.
func Prune(ctx context.Context, keeper *snapshot.Keeper, root choir.Digest, drop func(path string, e *snapshot.Entry) (bool, error)) (choir.Digest, []string, error) {
	in, err := keeper.NewIntake(ctx)
	if err != nil {
		return "", nil, err
	}
	defer in.Discard()
	p := pruning{ctx: ctx, keeper: keeper, in: in, drop: drop}
	left, err := p.folder(root, "", 0)
	if err != nil || left == root {
		return root, nil, err
	}
	if _, _, err := p.in.Commit(ctx, left); err != nil {
		return "", nil, err
	}
	return left, p.dropped, nil
}

// WithoutKeys makes the tree of a snapshot without the files that look like secret keys,
// see Prune.
func WithoutKeys(ctx context.Context, keeper *snapshot.Keeper, root choir.Digest) (choir.Digest, []string, error) {
	return Prune(ctx, keeper, root, func(_ string, e *snapshot.Entry) (bool, error) { return looksLikeKey(ctx, keeper, e) })
}

type pruning struct {
	ctx     context.Context
	keeper  *snapshot.Keeper
	in      *snapshot.Intake
	drop    func(path string, e *snapshot.Entry) (bool, error)
	dropped []string
}

func (p *pruning) folder(d choir.Digest, path string, depth int) (choir.Digest, error) {
	if depth > snapshot.MaxDepth {
		return "", choir.Refuse("timeline.prune", choir.ReasonTooDeep, choir.TextOf("path", path), choir.TextOf("most", snapshot.MaxDepth))
	}
	raw, err := p.keeper.Manifest(p.ctx, d)
	if err != nil {
		return "", err
	}
	m, err := snapshot.DecodeManifest(raw)
	if err != nil {
		return "", err
	}
	kept, changed := m.Entries[:0], false
	for _, e := range m.Entries {
		below := pathBelow(path, e.Name)
		switch e.Kind {
		case snapshot.File:
			gone, err := p.drop(below, &e)
			if err != nil {
				return "", err
			}
			if gone {
				p.dropped, changed = append(p.dropped, below), true
				continue
			}
		case snapshot.Dir:
			left, err := p.folder(e.Digest(), below, depth+1)
			if err != nil {
				return "", err
			}
			changed = changed || left != e.Digest()
			e.Sum, _ = left.Bytes()
		}
		kept = append(kept, e)
	}
	if !changed {
		return d, nil
	}
	m.Entries = kept
	raw = m.Encode()
	left := choir.DigestFrom(sha256.Sum256(raw))
	return left, p.in.Add(p.ctx, snapshot.Object{Digest: left, Manifest: true, Size: int64(len(raw)), Content: raw})
}
