package guest

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"sync"

	"choiros/internal/choir"
)

// wire sends and receives frames over one connection. One goroutine may read; any number
// may write.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	buf  []byte // of the last frame read

	// sending guards out and keeps the frames of several writers apart; it is
	// held while a frame is written because that is what it is for.
	sending sync.Mutex
	out     []byte
}

func newWire(conn net.Conn) *wire { return newWireOf(conn, 64<<10) }

// newWireOf returns a wire with a read buffer of so many bytes.
func newWireOf(conn net.Conn, buffer int) *wire {
	return &wire{conn: conn, in: bufio.NewReaderSize(conn, buffer)}
}

// read returns the next frame. The payload is valid until the next read.
func (w *wire) read() (frameType, []byte, error) {
	t, payload, buf, err := readFrame(w.in, w.buf)
	w.buf = buf
	return t, payload, err
}

// write sends one frame. It does not keep the payload.
func (w *wire) write(t frameType, payload []byte) error {
	w.sending.Lock()
	defer w.sending.Unlock()
	w.out = appendFrame(w.out[:0], t, payload)
	_, err := w.conn.Write(w.out)
	return err
}

func (w *wire) writeJSON(t frameType, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return choir.Wrap("guest.write", choir.CodeInternal, err, "encode %T", v)
	}
	if len(raw) > MaxFrame {
		return choir.E("guest.write", choir.CodeTooLarge, "%T has %d bytes as JSON, more than 1 MiB", v, len(raw))
	}
	return w.write(t, raw)
}

// writeError sends an error frame, which ends the operation.
func (w *wire) writeError(err error) error {
	return w.writeJSON(frameError, problemOf(err))
}

// dataChunk is the number of bytes of a stream in one frame.
const dataChunk = 64 << 10

// sendStream sends the content of r as data frames of type t and an end frame. It returns
// errors of r and of the connection.
func (w *wire) sendStream(t frameType, r io.Reader) error {
	buf := make([]byte, dataChunk)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			if werr := w.write(t, buf[:n]); werr != nil {
				return werr
			}
		}
		if err == io.EOF {
			return w.write(frameEnd, nil)
		}
		if err != nil {
			return err
		}
	}
}

// streamReader reads data frames up to the end frame as one stream. An error frame ends
// it with that error, a closed connection with code invalid.
type streamReader struct {
	w    *wire
	rest []byte
	err  error
}

func (s *streamReader) Read(b []byte) (int, error) {
	for len(s.rest) == 0 && s.err == nil {
		s.next()
	}
	if len(s.rest) == 0 {
		return 0, s.err
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *streamReader) next() {
	t, payload, err := s.w.read()
	switch {
	case err == io.EOF:
		s.err = choir.Invalid("frame", "the connection closed in the middle of a stream")
	case err != nil:
		s.err = err
	case t == frameData:
		s.rest = payload
	case t == frameEnd:
		s.err = io.EOF
	default:
		s.err = unexpected(t, payload)
	}
}

// unexpected returns the error for a frame that is not allowed here; for an error frame,
// the error that the other end sent.
func unexpected(t frameType, payload []byte) error {
	if t != frameError {
		return choir.Invalid("frame", "a frame of type %q may not come here", byte(t))
	}
	var p choir.Problem
	if err := choir.DecodeStrict(payload, &p); err != nil {
		return choir.Under("problem", err)
	}
	return p.Err()
}
