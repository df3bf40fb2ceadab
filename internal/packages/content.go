package packages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/netip"
)

// Content is the content of an item, to be read once and closed. Read ends with an error, and not
// with io.EOF, unless all that was read is what the registry promised.
type Content struct {
	Type    string // for the header Content-Type
	ETag    string // of a page; "" for none
	Size    int64
	Kept    bool       // it was there, or was being fetched for somebody else
	Address netip.Addr // where it was fetched from; none if it was there

	ctx   context.Context
	file  *opened // of the store
	fetch *fetch  // else what is being fetched
	page  *bytes.Reader
	// release ends the counting of a page that is given.
	release func()

	at   int64
	hash hash.Hash     // of what was read
	end  *bytes.Reader // of content, once its digest was found right
}

// held is how many bytes at the end of content are given out only when its digest was found
// right, so that nobody has the whole of false content.
const held = 64 << 10

// Read implements io.Reader. What it reads is hashed again, because the file may be changed after
// its digest was compared.
func (c *Content) Read(p []byte) (int, error) {
	if c.page != nil {
		return c.page.Read(p)
	}
	if left := c.Size - held - c.at; left > 0 {
		n, err := c.readAt(p[:min(int64(len(p)), left)], c.at)
		c.hash.Write(p[:n])
		c.at += int64(n)
		return n, err
	}
	if c.end == nil {
		if err := c.readEnd(); err != nil {
			return 0, err
		}
	}
	return c.end.Read(p)
}

// readEnd reads the end of the content, and compares the digest of the whole.
func (c *Content) readEnd() error {
	end := make([]byte, c.Size-c.at)
	for n := 0; n < len(end); {
		more, err := c.readAt(end[n:], c.at+int64(n))
		if n += more; err != nil {
			return err
		}
	}
	c.hash.Write(end)
	c.at = c.Size
	sum := ""
	if c.file != nil {
		sum = c.file.of.sum
	} else {
		sum = c.fetch.digest()
	}
	if hex.EncodeToString(c.hash.Sum(nil)) != sum {
		return ErrFalse
	}
	c.end = bytes.NewReader(end)
	return nil
}

// readAt reads some bytes at an offset before the end. A file that ends before it was changed.
func (c *Content) readAt(p []byte, at int64) (n int, err error) {
	if c.file != nil {
		n, err = c.file.ReadAt(p, at)
	} else {
		n, err = c.fetch.readAt(c.ctx, p, at)
	}
	if errors.Is(err, io.EOF) {
		err = nil
		if n < len(p) {
			err = ErrFalse
		}
	}
	return n, err
}

// Close implements io.Closer.
func (c *Content) Close() error {
	switch {
	case c.file != nil:
		return c.file.close()
	case c.page != nil:
		c.release()
		return nil
	}
	c.fetch.removeWaiter()
	return nil
}

var _ io.ReadCloser = (*Content)(nil)

// contentOf returns content of a type, of which nothing was read.
func contentOf(ctx context.Context, kind string, kept bool) *Content {
	return &Content{Type: kind, Kept: kept, ctx: ctx, hash: sha256.New()}
}
