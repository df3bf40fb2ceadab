package blob

import (
	"context"
	"io"
)

// ContextReader returns a reader that reads from r and returns the context's error once
// the context has ended. It does not interrupt a Read that blocks.
func ContextReader(ctx context.Context, r io.Reader) io.Reader { return &contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
