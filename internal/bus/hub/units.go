package hub

import (
	"bytes"
	"strconv"
)

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
