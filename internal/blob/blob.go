// Package blob is the contract of content-addressed stores. Content put under the
// SHA-256 of its bytes is found there whole and unchanged, or not at all. Content is
// never overwritten.
package blob

import (
	"context"
	"io"

	"choiros/internal/choir"
)

// Store stores content under its SHA-256 digest. Its methods are safe for concurrent
// use.
type Store interface {
	// Put reads content to its end and keeps it; when Put returns without an
	// error the content is durable. Putting what is there already is no error.
	// A full disk gives code no_space and leaves nothing behind.
	Put(ctx context.Context, content io.Reader) (choir.Digest, int64, error)
	// Open reads content. The digest is checked while reading: a Read that
	// reaches the end of damaged content returns code corrupt instead of io.EOF.
	// What is not there gives code not_found. The caller closes.
	Open(ctx context.Context, d choir.Digest) (io.ReadCloser, error)
	// Size is the length in bytes; code not_found when absent. It does not read
	// the content.
	Size(ctx context.Context, d choir.Digest) (int64, error)
}

// Batcher is the optional power to add many small pieces with few syncs.
type Batcher interface {
	// Batch begins a batch. It is used by one goroutine.
	Batch(ctx context.Context) (Batch, error)
}

// Batch collects content. Nothing in it is promised before Commit returns.
type Batch interface {
	// Add checks that the content has the digest (code corrupt otherwise) and
	// takes it up; the caller keeps ownership of the bytes.
	Add(d choir.Digest, content []byte) error
	// Commit makes all of it durable.
	Commit() error
	// Discard forgets what was not committed; after Commit it does nothing.
	Discard()
}

// Piecer is the optional power to read content from an offset.
type Piecer interface {
	// OpenAt is Open from an offset, which may be at most the size. The digest of a
	// part is not checked. The caller closes the reader.
	OpenAt(ctx context.Context, d choir.Digest, offset int64) (io.ReadCloser, error)
}

// ReadAll reads content into memory. Code too_large: it has more than max bytes.
func ReadAll(ctx context.Context, s Store, d choir.Digest, max int64) ([]byte, error) {
	size, err := s.Size(ctx, d)
	if err != nil {
		return nil, err
	}
	if size > max {
		return nil, choir.E("blob.read", choir.CodeTooLarge, "blob %s has %d bytes, more than %d", d, size, max)
	}
	r, err := s.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
