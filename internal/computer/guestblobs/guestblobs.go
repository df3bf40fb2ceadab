// Package guestblobs passes content between a computer and its guests in chunks, because
// a message of the bus holds no more than one.
package guestblobs

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"
	"sync"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

// maxUploads bounds the blobs that are on their way at once, maxUpload their
// size together in bytes.
const (
	maxUploads = 16
	maxUpload  = 128 << 20
)

// uploads are blobs that arrive in chunks. The zero value is ready.
type uploads struct {
	mu    sync.Mutex // guards what follows
	open  map[uploadKey]*bytes.Buffer
	order []uploadKey // oldest first
	bytes int
	most  int // bytes together; 0 means maxUpload
}

type uploadKey struct {
	connection string
	digest     choir.Digest
}

// Blobs is the content of a computer as its guests write and read it. The methods may be
// called at once.
type Blobs struct {
	store   blob.Store
	uploads uploads
}

// New passes on the content of a store.
func New(store blob.Store) *Blobs { return &Blobs{store: store} }

// Put adds one chunk to the blob that a connection sends. A chunk that does not follow on
// starts over. Code too_large for a blob that is larger than was announced, or than all
// that are on their way may be together.
func (b *Blobs) Put(ctx context.Context, who choir.Caller, r choir.BlobPutRequest) (choir.BlobPutReply, error) {
	if size, err := b.store.Size(ctx, r.Digest); err == nil && size == r.Size && b.touch(ctx, r.Digest) == nil {
		return choir.BlobPutReply{Next: r.Size, Done: true}, nil
	}
	whole, done, err := b.uploads.add(uploadKey{who.Connection, r.Digest}, r)
	if err != nil || !done {
		return choir.BlobPutReply{Next: int64(len(whole))}, err
	}
	if got := choir.DigestOf(whole); got != r.Digest {
		return choir.BlobPutReply{}, choir.Invalid("digest", "the content has the digest %s", got)
	}
	if _, _, err := b.store.Put(ctx, bytes.NewReader(whole)); err != nil {
		return choir.BlobPutReply{}, err
	}
	return choir.BlobPutReply{Next: r.Size, Done: true}, nil
}

// touch keeps what is there already from a collection.
func (b *Blobs) touch(ctx context.Context, d choir.Digest) error {
	if k, ok := b.store.(blob.Collector); ok {
		return k.Touch(ctx, d)
	}
	return nil
}

// add takes a chunk and returns what there is of the content, and whether that
// is all of it. A chunk that does not follow on drops what there was.
func (u *uploads) add(key uploadKey, r choir.BlobPutRequest) (content []byte, done bool, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if r.Size > int64(u.limit()) || r.Offset+int64(len(r.Chunk)) > r.Size {
		u.drop(key)
		return nil, false, choir.E("blob.put", choir.CodeTooLarge, "the chunks are more than was announced, or more than %d MiB together", u.limit()>>20)
	}
	if r.Offset == 0 {
		u.startUpload(key)
	}
	buf := u.open[key]
	if buf == nil || int64(buf.Len()) != r.Offset {
		u.drop(key)
		return nil, false, nil
	}
	u.makeRoom(key, len(r.Chunk))
	buf.Write(r.Chunk)
	u.bytes += len(r.Chunk)
	if content = buf.Bytes(); int64(len(content)) == r.Size {
		u.drop(key)
		return content, true, nil
	}
	return content, false, nil
}

func (u *uploads) limit() int { return cmp.Or(u.most, maxUpload) }

// startUpload begins an upload anew. The oldest is dropped when there are too many.
func (u *uploads) startUpload(key uploadKey) {
	if u.open == nil {
		u.open = map[uploadKey]*bytes.Buffer{}
	}
	u.drop(key)
	if len(u.order) >= maxUploads {
		// The oldest was most likely abandoned; its sender starts again if not.
		u.drop(u.order[0])
	}
	u.open[key] = &bytes.Buffer{}
	u.order = append(u.order, key)
}

// makeRoom drops the oldest uploads but one's own until n more bytes fit, so
// that abandoned ones cannot keep others out.
func (u *uploads) makeRoom(key uploadKey, n int) {
	for u.bytes+n > u.limit() && len(u.order) > 1 {
		oldest := u.order[0]
		if oldest == key {
			oldest = u.order[1]
		}
		u.drop(oldest)
	}
}

func (u *uploads) drop(key uploadKey) {
	if buf, ok := u.open[key]; ok {
		u.bytes -= buf.Len()
		delete(u.open, key)
		u.order = slices.DeleteFunc(u.order, func(k uploadKey) bool { return k == key })
	}
}

// Get reads one chunk of a blob. Code not_found when there is none, invalid for an offset
// behind its end.
func (b *Blobs) Get(ctx context.Context, r choir.BlobGetRequest) (choir.BlobGetReply, error) {
	size, err := b.store.Size(ctx, r.Digest)
	if err != nil {
		return choir.BlobGetReply{}, err
	}
	if r.Offset > size {
		return choir.BlobGetReply{}, choir.Invalid("offset", "the blob has %d bytes", size)
	}
	f, err := b.store.Open(ctx, r.Digest)
	if err != nil {
		return choir.BlobGetReply{}, err
	}
	defer f.Close()
	if err := skip(f, r.Offset); err != nil {
		return choir.BlobGetReply{}, choir.Wrap("blob.get", "", err, "read blob %s", r.Digest)
	}
	chunk, err := io.ReadAll(io.LimitReader(f, choir.BlobChunk))
	return choir.BlobGetReply{Size: size, Chunk: chunk}, choir.Wrap("blob.get", "", err, "read blob %s", r.Digest)
}

// skip passes over n bytes, without reading them where the store can.
func skip(r io.Reader, n int64) error {
	if s, ok := r.(io.Seeker); ok {
		_, err := s.Seek(n, io.SeekStart)
		return err
	}
	_, err := io.CopyN(io.Discard, r, n)
	return err
}
