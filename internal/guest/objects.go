package guest

import (
	"encoding/binary"
	"errors"
	"io"

	"choiros/internal/choir"
	"choiros/internal/snapshot"
)

// An object is sent as an object frame (digest, flag, size), with its content in the same
// frame if it is small, else followed by data frames and an end frame. An error frame in
// place of the end frame means that the sender could not read the content; the object
// then counts as not sent.
const (
	objectHead  = 32 + 1 + 8
	objectWhole = MaxFrame - objectHead // larger content comes in pieces
	maxNeed     = 8192                  // digests in one need frame
)

// writeObject sends one object. An error while its content is read goes to the other end
// and is not returned.
func (w *wire) writeObject(o *snapshot.Object) error {
	_, err := w.sendObject(o)
	return err
}

// sendObject sends one object. broken is an error while its content was read, which the
// other end was told; err is an error of the connection.
func (w *wire) sendObject(o *snapshot.Object) (broken, err error) {
	sum, ok := o.Digest.Bytes()
	if !ok {
		return nil, choir.E("guest.object", choir.CodeInternal, "%q is no digest", o.Digest)
	}
	head := make([]byte, 0, objectHead+len(o.Content))
	head = append(head, sum[:]...)
	head = append(head, flag(o.Manifest))
	head = binary.BigEndian.AppendUint64(head, uint64(o.Size))
	if o.Open == nil && len(o.Content) <= objectWhole {
		return nil, w.write(frameObject, append(head, o.Content...))
	}
	if err := w.write(frameObject, head); err != nil {
		return nil, err
	}
	r, err := o.Reader()
	if err != nil {
		return err, w.writeError(err)
	}
	defer r.Close()
	tracked := &readErrors{r: r}
	if err := w.sendStream(frameData, tracked); err != nil && err != tracked.err {
		return nil, err
	}
	if tracked.err != nil {
		return tracked.err, w.writeError(tracked.err)
	}
	return nil, nil
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// readErrors is a reader that remembers its own error, so that it can be told from an
// error of the connection.
type readErrors struct {
	r   io.Reader
	err error
}

func (t *readErrors) Read(b []byte) (int, error) {
	n, err := t.r.Read(b)
	if err != nil && err != io.EOF {
		t.err = err
	}
	return n, err
}

// readObject decodes an object frame. If the content follows in further frames, Open
// returns a stream of them, which must be read to its end or closed before the next frame
// is read.
func (w *wire) readObject(payload []byte) (snapshot.Object, error) {
	if len(payload) < objectHead {
		return snapshot.Object{}, choir.Invalid("object", "has no whole head")
	}
	o := snapshot.Object{
		Digest: choir.DigestFrom([32]byte(payload)), Manifest: payload[32] == 1,
		Size: int64(binary.BigEndian.Uint64(payload[33:])),
	}
	rest := payload[objectHead:]
	switch {
	case payload[32] > 1 || o.Size < 0 || o.Size > snapshot.MaxFileBytes:
		return o, choir.Invalid("object", "has a flag or size that cannot be")
	case o.Size == int64(len(rest)):
		o.Content = rest
		return o, nil
	case len(rest) > 0:
		return o, choir.Invalid("object", "has %d bytes, not %d", len(rest), o.Size)
	}
	if o.Manifest {
		content, err := readWhole(&streamReader{w: w}, o.Size)
		o.Content = content
		return o, err
	}
	stream := &objectStream{r: streamReader{w: w}, left: o.Size}
	o.Open = func() (io.ReadCloser, error) { return stream, nil }
	return o, nil
}

// readWhole reads a manifest of size bytes. Another length is code invalid, more than
// MaxManifestBytes too_large.
func readWhole(r io.Reader, size int64) ([]byte, error) {
	if size > snapshot.MaxManifestBytes {
		return nil, &choir.Error{Op: "guest.object", Code: choir.CodeTooLarge, Path: "object", Msg: "a manifest is longer than 64 MiB"}
	}
	content, err := io.ReadAll(io.LimitReader(r, size+1))
	if err == nil && int64(len(content)) != size {
		err = choir.Invalid("object", "has another length than it says")
	}
	return content, err
}

// objectStream reads the content of an object from data frames and checks its length.
type objectStream struct {
	r    streamReader
	left int64
}

func (o *objectStream) Read(b []byte) (int, error) {
	n, err := o.r.Read(b)
	o.left -= int64(n)
	if err != nil && err != io.EOF {
		return n, &brokenStream{err}
	}
	if o.left < 0 || err == io.EOF && o.left > 0 {
		return n, choir.Invalid("object", "has another length than it says")
	}
	return n, err
}

// brokenStream marks an error as one of the other end or of the connection, through any
// wrapping, as opposed to an error of this side.
type brokenStream struct{ error }

func (b *brokenStream) Unwrap() error { return b.error }

// Close discards the rest of the content, so that the next frame can be read.
func (o *objectStream) Close() error {
	_, err := io.Copy(io.Discard, &o.r)
	return err
}

// brokenOff reports whether an object ended because the sender could not read its
// content. The connection is still usable then.
func brokenOff(err error) bool {
	var e *choir.Error
	var b *brokenStream
	return errors.As(err, &b) && errors.As(b.error, &e) && e.Code != choir.CodeInvalid && e.Code != choir.CodeTooLarge
}

func appendDigests(ds []choir.Digest) ([]byte, error) {
	b := make([]byte, 0, 32*len(ds))
	for _, d := range ds {
		sum, ok := d.Bytes()
		if !ok {
			return nil, choir.Invalid("need", "%q is not a digest", d)
		}
		b = append(b, sum[:]...)
	}
	return b, nil
}

func parseDigests(b []byte) ([]choir.Digest, error) {
	if len(b)%32 != 0 || len(b) > 32*maxNeed {
		return nil, choir.Invalid("need", "has %d bytes, which are no digests", len(b))
	}
	ds := make([]choir.Digest, 0, len(b)/32)
	for ; len(b) > 0; b = b[32:] {
		ds = append(ds, choir.DigestFrom([32]byte(b)))
	}
	return ds, nil
}
