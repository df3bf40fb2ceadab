package hub

import "io"

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
