// Package fs keeps blobs as files: blobs/<first two digits>/<sha256>.
package fs

import (
	"context"
	"io"

	"choiros/internal/blob"
	"choiros/internal/choir"
)

// Store is a blob.Store and a blob.Batcher on a folder.
type Store struct{ dir string }

var errSkeleton = choir.E("blob.fs", choir.CodeUnavailable, "not built yet")

// Open opens or creates a store in dir.
func Open(dir string) (*Store, error) { return nil, errSkeleton }

func (s *Store) Put(ctx context.Context, content io.Reader) (choir.Digest, int64, error) {
	return "", 0, errSkeleton
}
func (s *Store) Open(ctx context.Context, d choir.Digest) (io.ReadCloser, error) {
	return nil, errSkeleton
}
func (s *Store) Size(ctx context.Context, d choir.Digest) (int64, error) { return 0, errSkeleton }
func (s *Store) Batch(ctx context.Context) (blob.Batch, error)           { return nil, errSkeleton }
