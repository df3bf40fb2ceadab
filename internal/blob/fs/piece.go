package fs

import (
	"bytes"
	"context"
	"io"
	"os"

	"choiros/internal/choir"
)

// OpenAt implements blob.Piecer.
func (s *Store) OpenAt(_ context.Context, d choir.Digest, offset int64) (io.ReadCloser, error) {
	if !d.Valid() {
		return nil, choir.Invalid("digest", "%q is not a SHA-256", d)
	}
	if b, ok := s.recent.get(d); ok {
		return io.NopCloser(bytes.NewReader(b.content[min(max(0, offset), int64(len(b.content))):])), nil
	}
	f, err := os.Open(s.path(d))
	if err != nil {
		return nil, wrapErr("blob.open", err, string(d))
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		f.Close() // it was only read
		return nil, wrapErr("blob.open", err, string(d))
	}
	return f, nil
}
