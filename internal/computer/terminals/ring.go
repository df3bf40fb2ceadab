package terminals

import "bytes"

// ring keeps the newest bytes of an endless output. The offset of a byte is the number of
// bytes before it.
type ring struct {
	keep int    // how many bytes at most
	buf  []byte // the byte at offset o is buf[o%keep]
	end  uint64 // offset of the next byte
}

// start returns the offset of the oldest byte kept.
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

// read copies the stored bytes from offset at on into p. If the byte at at is no longer
// stored, it begins at resume. It returns the offset of the first copied byte and the
// number of bytes.
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

// resumeWithin is the maximal number of further bytes to skip in order to begin with a
// whole line.
const resumeWithin = 4096

// resume returns the offset at which a reader that has missed output should begin: after
// the first line end kept, so that it does not begin within a character or a control
// sequence; if there is none within resumeWithin, the oldest byte.
func (r *ring) resume() uint64 {
	start := r.start()
	var head [resumeWithin]byte
	_, n := r.read(head[:], start)
	return start + uint64(bytes.IndexByte(head[:n], '\n')+1)
}
