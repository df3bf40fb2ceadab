package terminals

import "bytes"

// ring keeps the newest bytes of an output without end. A byte is named by its
// offset, how many came before it.
type ring struct {
	keep int    // how many bytes at most
	buf  []byte // the byte at offset o is buf[o%keep]
	end  uint64 // offset of the next byte
}

// start is the offset of the oldest byte that is kept.
func (r *ring) start() uint64 { return r.end - uint64(len(r.buf)) }

func (r *ring) write(p []byte) {
	n := min(len(p), r.keep-len(r.buf))
	r.buf = append(r.buf, p[:n]...)
	r.end += uint64(n)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		n = copy(r.buf[r.end%uint64(r.keep):], p)
		r.end += uint64(n)
	}
}

// read copies what is kept from an offset on into p. What lies before the oldest
// byte is skipped; from says where the bytes begin.
func (r *ring) read(p []byte, at uint64) (from uint64, n int) {
	if at < r.start() {
		at = r.resume()
	}
	from = min(at, r.end)
	p = p[:min(uint64(len(p)), r.end-from)]
	for n < len(p) {
		n += copy(p[n:], r.buf[(from+uint64(n))%uint64(r.keep):])
	}
	return from, n
}

// resumeWithin is how much more may be skipped to begin with a whole line.
const resumeWithin = 4096

// resume is where a reader begins that has missed something: after the first end
// of a line, so that it is not in the middle of a character or a control
// sequence.
func (r *ring) resume() uint64 {
	start := r.start()
	var head [resumeWithin]byte
	_, n := r.read(head[:], start)
	return start + uint64(bytes.IndexByte(head[:n], '\n')+1)
}
