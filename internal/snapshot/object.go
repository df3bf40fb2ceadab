package snapshot

import (
	"bytes"
	"context"
	"io"

	"choiros/internal/choir"
)

// Object is a manifest or the content of a file, with its digest. Exactly one of Content
// and Open is set: large content has Open and is never in memory as a whole.
type Object struct {
	Digest   choir.Digest
	Manifest bool
	Size     int64
	Content  []byte // owned by the scanner and only valid during the call
	Open     func() (io.ReadCloser, error)
}

// Reader returns a reader of the object's bytes, from Content or Open. The caller closes
// it.
func (o *Object) Reader() (io.ReadCloser, error) {
	if o.Open != nil {
		return o.Open()
	}
	return io.NopCloser(bytes.NewReader(o.Content)), nil
}

// Getter reads the objects of snapshots. An absent object is code not_found.
// Implementations verify the digest of what they return.
type Getter interface {
	// Manifest returns an encoded manifest.
	Manifest(ctx context.Context, d choir.Digest) ([]byte, error)
	// Content opens the content of a file; the caller closes it.
	Content(ctx context.Context, d choir.Digest) (io.ReadCloser, error)
}
