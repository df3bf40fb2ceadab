package fs

import (
	"bytes"
	"context"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

// batchRecords is the largest number of blobs of one batch that go through the
// write-ahead log.
const batchRecords = 256

// Batch implements blob.Batcher.
func (s *Store) Batch(ctx context.Context) (blob.Batch, error) {
	return &batch{ctx: ctx, store: s, seen: map[choir.Digest]bool{}}, nil
}

// batch keeps a small batch in memory and a large one in temporary files.
type batch struct {
	ctx   context.Context
	store *Store
	parts parts
	seen  map[choir.Digest]bool
	bytes int  // of small parts, as records
	much  bool // more small parts came than go through the log
}

// Add implements blob.Batch.
func (b *batch) Add(d choir.Digest, content []byte) error {
	if err := b.ctx.Err(); err != nil {
		return wrapErr("blob.batch", err, string(d))
	}
	if choir.DigestOf(content) != d {
		return choir.E("blob.batch", choir.CodeCorrupt, "content has digest %s, not %s", choir.DigestOf(content), d)
	}
	if b.seen[d] {
		return nil
	}
	if err := b.add(d, content); err != nil {
		return wrapErr("blob.batch", err, b.store.dir)
	}
	b.seen[d] = true
	return nil
}

func (b *batch) add(d choir.Digest, content []byte) error {
	if b.store.holds(record{d, content}) {
		b.parts.known = append(b.parts.known, d)
		return nil
	}
	if len(content) > maxRecord || b.much {
		return b.store.spillOne(&b.parts, record{d, content})
	}
	b.parts.small = append(b.parts.small, record{d, bytes.Clone(content)})
	b.bytes += recordHeader + len(content)
	if b.bytes <= groupBytes && len(b.parts.small) <= batchRecords {
		return nil
	}
	b.much = true
	return b.store.spill(&b.parts)
}

// Commit implements blob.Batch.
func (b *batch) Commit() error {
	defer b.Discard()
	return wrapErr("blob.batch", b.store.storeParts(&b.parts), b.store.dir)
}

// Discard implements blob.Batch.
func (b *batch) Discard() {
	b.parts.drop()
	b.parts, b.bytes, b.much = parts{}, 0, false
	clear(b.seen)
}
