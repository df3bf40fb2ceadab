package hub

import (
	"bytes"
	"io"
	"strconv"
)

const (
	carryLeast = 4 << 10  // what a connection on which little comes has as its buffer, in bytes
	carryMost  = 64 << 10 // and any other; of what is larger parts are given on
)

// carry copies what the NATS server sends to a connection, whole messages in one
// write where they are small, and returns once either side has ended. The server
// writes its own buffers one by one, of 512 bytes at first, and over a WebSocket
// each write is a frame that wakes a browser.
func carry(to io.Writer, from io.Reader) {
	var u units
	buf := make([]byte, carryLeast)
	held := 0 // bytes of buf that are not given on, without the end of a message
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

// units finds where the messages of the NATS client protocol end in what a
// server sends: control lines, each with a payload when it is MSG or HMSG. The
// zero value stands at the start of one.
type units struct {
	line []byte // of a control line, as far as it came
	rest int    // bytes of the payload that are still to come
}

// whole takes what came next and returns how much of it, from its start, ends
// with a message; 0 when no message ends in it.
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

// payload is how many bytes follow a control line, with the end of line after
// them; 0 when none do.
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
