package snapshot

import (
	"bytes"
	"context"
	"io"

	"choiros/internal/choir"
)

// Object is a manifest or the content of a file, under its digest. Exactly one
// of Content and Open is set; large content comes by Open and is never whole in
// memory.
type Object struct {
	Digest   choir.Digest
	Manifest bool
	Size     int64
	Content  []byte // owned by the scanner and only valid during the call
	Open     func() (io.ReadCloser, error)
}

// Reader reads the object, wherever it is. The caller closes.
func (o *Object) Reader() (io.ReadCloser, error) {
	if o.Open != nil {
		return o.Open()
	}
	return io.NopCloser(bytes.NewReader(o.Content)), nil
}

// Getter reads objects; code not_found when one is absent. Implementations
// check the digest of what they return.
type Getter interface {
	Manifest(ctx context.Context, d choir.Digest) ([]byte, error)
	Content(ctx context.Context, d choir.Digest) (io.ReadCloser, error)
}
