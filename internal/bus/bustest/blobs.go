package bustest

import (
	"sync"

	"choiros/internal/choir"
)

// Blobs answers blob-put and blob-get from memory.
type Blobs struct {
	mu    sync.Mutex // guards what follows
	whole map[choir.Digest][]byte
	part  map[choir.Digest][]byte
}

// NewBlobs makes an empty store.
func NewBlobs() *Blobs {
	return &Blobs{whole: map[choir.Digest][]byte{}, part: map[choir.Digest][]byte{}}
}

// Keep stores content.
func (b *Blobs) Keep(content []byte) choir.Digest {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := choir.DigestOf(content)
	b.whole[d] = content
	return d
}

// Content is what a digest names, nil for none.
func (b *Blobs) Content(d choir.Digest) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.whole[d]
}

// Answer answers one command.
func (b *Blobs) Answer(verb choir.Verb, body []byte) (any, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if verb == choir.VerbBlobPut {
		var req choir.BlobPutRequest
		if err := choir.DecodeStrict(body, &req); err != nil {
			return nil, err
		}
		return b.put(req)
	}
	var req choir.BlobGetRequest
	if err := choir.DecodeStrict(body, &req); err != nil {
		return nil, err
	}
	content, ok := b.whole[req.Digest]
	if !ok || req.Offset > int64(len(content)) {
		return nil, choir.E("blob.get", choir.CodeNotFound, "no blob %s", req.Digest)
	}
	rest := content[req.Offset:]
	return choir.BlobGetReply{Size: int64(len(content)), Chunk: rest[:min(choir.BlobChunk, len(rest))]}, nil
}

func (b *Blobs) put(req choir.BlobPutRequest) (choir.BlobPutReply, error) {
	if _, ok := b.whole[req.Digest]; ok {
		return choir.BlobPutReply{Next: req.Size, Done: true}, nil
	}
	if have := int64(len(b.part[req.Digest])); req.Offset != have {
		return choir.BlobPutReply{Next: have}, nil
	}
	got := append(b.part[req.Digest], req.Chunk...)
	if int64(len(got)) < req.Size {
		b.part[req.Digest] = got
		return choir.BlobPutReply{Next: int64(len(got))}, nil
	}
	delete(b.part, req.Digest)
	if choir.DigestOf(got) != req.Digest {
		return choir.BlobPutReply{}, choir.E("blob.put", choir.CodeCorrupt, "%s is something else", req.Digest)
	}
	b.whole[req.Digest] = got
	return choir.BlobPutReply{Next: req.Size, Done: true}, nil
}
