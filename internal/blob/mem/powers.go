package mem

import (
	"bytes"
	"context"
	"maps"
	"time"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

// Batch implements blob.Batcher.
func (s *Store) Batch(ctx context.Context) (blob.Batch, error) {
	return &batch{ctx: ctx, store: s, content: map[choir.Digest][]byte{}}, nil
}

// batch holds content until Commit.
type batch struct {
	ctx     context.Context
	store   *Store
	content map[choir.Digest][]byte
}

// Add implements blob.Batch.
func (b *batch) Add(d choir.Digest, content []byte) error {
	if err := b.ctx.Err(); err != nil {
		return readError(err)
	}
	if got := choir.DigestOf(content); got != d {
		return choir.E("blob.batch", choir.CodeCorrupt, "content has digest %s, not %s", got, d)
	}
	if _, known := b.content[d]; !known {
		b.content[d] = bytes.Clone(content)
	}
	return nil
}

// Commit implements blob.Batch.
func (b *batch) Commit() error {
	defer b.Discard()
	return b.store.add(b.content)
}

// Discard implements blob.Batch.
func (b *batch) Discard() { b.content = map[choir.Digest][]byte{} }

// Each implements blob.Collector. It visits what is there when it is called.
func (s *Store) Each(ctx context.Context, fn func(blob.Info) error) error {
	s.mu.RLock()
	all := maps.Clone(s.blobs)
	s.mu.RUnlock()
	for d, k := range all {
		if err := ctx.Err(); err != nil {
			return choir.Wrap("blob.list", choir.CodeCancelled, err, "stopped")
		}
		if err := fn(blob.Info{Digest: d, Size: int64(len(k.content)), Put: k.put}); err != nil {
			return err
		}
	}
	return nil
}

// Remove implements blob.Collector.
func (s *Store) Remove(_ context.Context, d choir.Digest, before time.Time) (bool, error) {
	if !d.Valid() {
		return false, choir.Invalid("digest", "%q is not a SHA-256", d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.blobs[d]
	if !ok || !k.put.Before(before) {
		return false, nil
	}
	delete(s.blobs, d)
	s.bytes -= int64(len(k.content))
	return true, nil
}

// Touch implements blob.Collector.
func (s *Store) Touch(_ context.Context, d choir.Digest) error {
	if _, err := s.find(d); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.blobs[d]
	if !ok {
		return &choir.Error{Op: "blob.touch", Code: choir.CodeNotFound, Path: string(d), Msg: "is not in the blob store"}
	}
	k.put = s.cfg.Now()
	s.blobs[d] = k
	return nil
}

// Link implements blob.Linker. Two stores in memory share the bytes; content of
// another kind of store is left to be copied.
func (s *Store) Link(ctx context.Context, from blob.Store, digests []choir.Digest) (left []choir.Digest, err error) {
	other, ok := from.(*Store)
	if !ok {
		return digests, nil
	}
	shared := map[choir.Digest][]byte{}
	for _, d := range digests {
		if err := ctx.Err(); err != nil {
			return nil, readError(err)
		}
		k, err := other.find(d)
		if err != nil {
			return nil, err
		}
		if k.damaged {
			left = append(left, d) // the copying finds out
			continue
		}
		shared[d] = k.content
	}
	return left, s.add(shared)
}
