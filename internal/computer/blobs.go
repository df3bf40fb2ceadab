package computer

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync"

	"choiros/internal/choir"
)

// maxUploads bounds the blobs that are on their way at once, maxUpload their
// size together in bytes.
const (
	maxUploads = 16
	maxUpload  = 256 << 20
)

// uploads are blobs that arrive in chunks. The zero value is ready.
type uploads struct {
	mu    sync.Mutex // guards what follows
	open  map[uploadKey]*bytes.Buffer
	order []uploadKey // oldest first
	bytes int
}

type uploadKey struct {
	connection string
	digest     choir.Digest
}

// blobPut takes one chunk. A chunk that does not follow on starts over.
func (c *Computer) blobPut(ctx context.Context, who choir.Caller, r choir.BlobPutRequest) (choir.BlobPutReply, error) {
	if size, err := c.blobs.Size(ctx, r.Digest); err == nil && size == r.Size {
		return choir.BlobPutReply{Next: r.Size, Done: true}, nil
	}
	whole, next, err := c.uploads.add(uploadKey{who.Connection, r.Digest}, r)
	if err != nil || whole == nil {
		return choir.BlobPutReply{Next: next}, err
	}
	if got := choir.DigestOf(whole); got != r.Digest {
		return choir.BlobPutReply{}, choir.Invalid("digest", "the content has the digest %s", got)
	}
	if _, _, err := c.blobs.Put(ctx, bytes.NewReader(whole)); err != nil {
		return choir.BlobPutReply{}, err
	}
	return choir.BlobPutReply{Next: r.Size, Done: true}, nil
}

// add takes a chunk and returns the whole content with its last one.
func (u *uploads) add(key uploadKey, r choir.BlobPutRequest) (whole []byte, next int64, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.open == nil {
		u.open = map[uploadKey]*bytes.Buffer{}
	}
	buf := u.open[key]
	if r.Offset == 0 {
		u.drop(key)
		if len(u.order) >= maxUploads {
			// The oldest was most likely abandoned; its sender starts again if not.
			u.drop(u.order[0])
		}
		buf = &bytes.Buffer{}
		u.open[key] = buf
		u.order = append(u.order, key)
	}
	if buf == nil || int64(buf.Len()) != r.Offset {
		u.drop(key)
		return nil, 0, nil
	}
	if u.bytes+len(r.Chunk) > maxUpload || int64(buf.Len()+len(r.Chunk)) > r.Size {
		u.drop(key)
		return nil, 0, choir.E("blob.put", choir.CodeTooLarge, "the chunks are more than was announced or than fits")
	}
	buf.Write(r.Chunk)
	u.bytes += len(r.Chunk)
	if int64(buf.Len()) < r.Size {
		return nil, int64(buf.Len()), nil
	}
	whole = buf.Bytes()
	u.drop(key)
	return whole, r.Size, nil
}

func (u *uploads) drop(key uploadKey) {
	if buf, ok := u.open[key]; ok {
		u.bytes -= buf.Len()
		delete(u.open, key)
		u.order = slices.DeleteFunc(u.order, func(k uploadKey) bool { return k == key })
	}
}

// blobGet reads one chunk.
func (c *Computer) blobGet(ctx context.Context, r choir.BlobGetRequest) (choir.BlobGetReply, error) {
	size, err := c.blobs.Size(ctx, r.Digest)
	if err != nil {
		return choir.BlobGetReply{}, err
	}
	if r.Offset > size {
		return choir.BlobGetReply{}, choir.Invalid("offset", "the blob has %d bytes", size)
	}
	f, err := c.blobs.Open(ctx, r.Digest)
	if err != nil {
		return choir.BlobGetReply{}, err
	}
	defer f.Close()
	if _, err := io.CopyN(io.Discard, f, r.Offset); err != nil {
		return choir.BlobGetReply{}, choir.Wrap("blob.get", "", err, "read blob %s", r.Digest)
	}
	chunk, err := io.ReadAll(io.LimitReader(f, choir.BlobChunk))
	return choir.BlobGetReply{Size: size, Chunk: chunk}, choir.Wrap("blob.get", "", err, "read blob %s", r.Digest)
}
