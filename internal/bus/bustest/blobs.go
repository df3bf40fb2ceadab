package bustest

import (
	"sync"

	"choiros/internal/choir"
)

// Blobs answers the verbs blob-put and blob-get from memory.
type Blobs struct {
	mu    sync.Mutex // guards whole and part
	whole map[choir.Digest][]byte
	part  map[choir.Digest][]byte
}

// NewBlobs returns an empty Blobs.
func NewBlobs() *Blobs {
	return &Blobs{whole: map[choir.Digest][]byte{}, part: map[choir.Digest][]byte{}}
}

// Put stores content and returns its digest.
func (b *Blobs) Put(content []byte) choir.Digest {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := choir.DigestOf(content)
	b.whole[d] = content
	return d
}

// Content returns the content of a digest, nil if it is not stored.
func (b *Blobs) Content(d choir.Digest) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.whole[d]
}

// Answer executes the command verb with the given body and returns its reply.
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

// put stores one chunk of a blob and returns how to go on.
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
