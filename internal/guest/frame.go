package guest

import (
	"encoding/binary"
	"io"

	"choiros/internal/choir"
)

// MaxFrame is the largest payload of one frame, in bytes.
const MaxFrame = 1 << 20

// frameType is the type of a frame, its first byte. The values are part of the protocol
// and never reused.
type frameType byte

const (
	frameRequest frameType = 'Q' // client, first: JSON request
	frameReply   frameType = 'R' // server, last: JSON reply of the operation
	frameError   frameType = 'E' // either, last: JSON choir.Problem
	frameData    frameType = 'D' // bytes of the operation's main stream
	frameStderr  frameType = '2' // bytes of standard error
	frameEnd     frameType = 'Z' // end of the sender's stream
	frameControl frameType = 'C' // JSON of something meanwhile: signal, resize, started, notice
	frameCredit  frameType = 'W' // server: big-endian bytes of input that were taken
	frameObject  frameType = 'O' // beginning of a snapshot object
	frameNeed    frameType = 'N' // digests of wanted objects, 32 bytes each
	frameRoot    frameType = 'S' // JSON scan result
	frameLeave   frameType = 'L' // digests of objects that there is no room for, 32 bytes each
	frameAt      frameType = 'P' // JSON: how far a scan is
)

const frameHead = 5 // type and big-endian length

// appendFrame appends an encoded frame to b and returns the result.
func appendFrame(b []byte, t frameType, payload []byte) []byte {
	b = append(b, byte(t))
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	return append(b, payload...)
}

// readFrame reads one frame. The payload aliases buf, or a larger buffer; next is the
// buffer to pass to the next call. io.EOF means that the stream ended between frames.
func readFrame(r io.Reader, buf []byte) (t frameType, payload, next []byte, err error) {
	var head [frameHead]byte
	if _, err = io.ReadFull(r, head[:]); err != nil {
		if err == io.ErrUnexpectedEOF {
			err = choir.Invalid("frame", "the stream ended inside the head of a frame")
		}
		return 0, nil, buf, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > MaxFrame {
		return 0, nil, buf, &choir.Error{Op: "guest.read", Code: choir.CodeTooLarge, Path: "frame",
			Msg: "a frame is longer than 1 MiB"}
	}
	if int(n) > cap(buf) {
		buf = make([]byte, n)
	}
	payload = buf[:n]
	if _, err = io.ReadFull(r, payload); err != nil {
		return 0, nil, buf, choir.Invalid("frame", "the stream ended inside a frame of %d bytes", n)
	}
	return frameType(head[0]), payload, buf, nil
}
