package snapshot

import (
	"context"
	"crypto/sha256"
	"slices"

	"choiros/internal/choir"
)

// Without returns the digest of a snapshot's tree without some escaped paths and
// everything below them, and without the folders that are empty then, as a scan gives it
// that leaves them out. It passes new manifests to emit, which may be nil, children
// before parents. The objects are not stored otherwise.
func Without(ctx context.Context, get Getter, root choir.Digest, paths []string, emit func(Object) error) (choir.Digest, error) {
	if len(paths) == 0 {
		return root, nil
	}
	w := without{ctx: ctx, get: get, left: slices.Sorted(slices.Values(paths)), emit: emit}
	left, _, err := w.folder(root, "", 0)
	return left, err
}

type without struct {
	ctx  context.Context
	get  Getter
	left leftOut
	emit func(Object) error
}

// folder returns the digest of a folder's manifest without the excluded paths; empty
// reports that no entry is left.
func (w *without) folder(d choir.Digest, path string, depth int) (left choir.Digest, empty bool, err error) {
	m, err := readManifest(w.ctx, w.get, path, d, depth)
	if err != nil {
		return "", false, err
	}
	kept, changed := m.Entries[:0], false
	for _, e := range m.Entries {
		below := join(path, e.Name)
		if w.left.has(below) {
			changed = true
			continue
		}
		if e.Kind == Dir && w.left.below(below) {
			sub, gone, err := w.folder(e.Digest(), below, depth+1)
			if err != nil {
				return "", false, err
			}
			changed = changed || gone || sub != e.Digest()
			if gone {
				continue
			}
			e.Sum, _ = sub.Bytes()
		}
		kept = append(kept, e)
	}
	if !changed {
		return d, len(m.Entries) == 0, nil
	}
	m.Entries = kept
	raw := m.Encode()
	left = choir.DigestFrom(sha256.Sum256(raw))
	if w.emit != nil && (len(kept) > 0 || path == "") {
		err = w.emit(Object{Digest: left, Manifest: true, Size: int64(len(raw)), Content: raw})
	}
	return left, len(kept) == 0, err
}
