package fs

import (
	"context"
	"hash"
	"io"
	"os"

	"choiros/internal/choir"
)

// checkedReader hashes what it reads and refuses the end of content that is not
// what its name says.
type checkedReader struct {
	file *os.File
	want choir.Digest
	hash hash.Hash
}

func (r *checkedReader) Read(p []byte) (int, error) {
	n, err := r.file.Read(p)
	r.hash.Write(p[:n])
	if err == io.EOF && choir.DigestFrom([32]byte(r.hash.Sum(nil))) != r.want {
		return n, choir.E("blob.read", choir.CodeCorrupt, "blob %s is damaged", r.want).
			WithRemedy("restore it from a backup, or put the content again")
	}
	return n, err
}

func (r *checkedReader) Close() error { return r.file.Close() }

// contextReader ends with the context's error.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
