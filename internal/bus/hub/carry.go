package hub

import (
	"bytes"
	"io"
	"strconv"
)

const (
	carryLeast = 4 << 10  // buffer of a quiet connection, in bytes
	carryMost  = 64 << 10 // largest buffer, in bytes; larger messages are written in pieces
)

// carry copies the server's stream from from to to, until either side ends. It writes
// whole messages at once if they are small: the server writes small buffers one by one,
// and each write to a WebSocket is a frame that wakes the browser.
func carry(to io.Writer, from io.Reader) {
	var u units
	buf := make([]byte, carryLeast)
	held := 0 // bytes of buf not yet written: an incomplete message
	for {
		n, err := from.Read(buf[held:])
		end := u.whole(buf[held : held+n])
		if end > 0 {
			end += held
		}
		held += n
		if err != nil || held == carryMost {
			end = held
		}
		if end > 0 {
			if _, failed := to.Write(buf[:end]); failed != nil {
				return
			}
			held = copy(buf, buf[end:held])
		}
		if err != nil {
			return
		}
		if held == len(buf) {
			buf = append(make([]byte, 0, 2*held), buf...)[:2*held]
		}
	}
}

// units finds the ends of messages in a server's NATS protocol stream: control lines,
// each with a payload after MSG or HMSG. The zero value expects a control line.
type units struct {
	line []byte // the incomplete control line
	rest int    // missing bytes of the payload
}

// whole processes the next bytes and returns the length of their prefix that ends with the
// last complete message, 0 if no message ends in them.
func (u *units) whole(b []byte) (end int) {
	for at := 0; at < len(b); {
		if u.rest == 0 {
			n := bytes.IndexByte(b[at:], '\n')
			if n < 0 {
				u.line = append(u.line, b[at:]...)
				return end
			}
			u.rest = payload(append(u.line, b[at:at+n]...))
			u.line = u.line[:0]
			at += n + 1
		} else {
			n := min(u.rest, len(b)-at)
			u.rest -= n
			at += n
		}
		if u.rest == 0 {
			end = at
		}
	}
	return end
}

// payload returns the number of payload bytes after a control line, its line end included;
// 0 if it has no payload.
func payload(line []byte) int {
	if !bytes.HasPrefix(line, []byte("MSG ")) && !bytes.HasPrefix(line, []byte("HMSG ")) {
		return 0
	}
	line = bytes.TrimSpace(line)
	size, err := strconv.Atoi(string(line[bytes.LastIndexByte(line, ' ')+1:]))
	if err != nil || size < 0 {
		return 0 // no server sends that; it goes on line by line
	}
	return size + len("\r\n")
}
