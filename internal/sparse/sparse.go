// Package sparse reads and writes files with holes: ranges that read as zeros and
// take no room on the disk (lseek(2), SEEK_HOLE).
package sparse

import (
	"bytes"
	"io"

	"golang.org/x/sys/unix"
)

// block is the least range that is left as a hole.
const block = 4096

var zeros [block]byte

// Reader reads the first bytes of an open file without reading its holes. It moves
// the file's own offset.
type Reader struct {
	fd   int
	at   int64
	size int64
	// data is the range at or behind at that has content, once it was looked for.
	data, hole int64
}

// NewReader reads size bytes of an open file, which it does not own.
func NewReader(fd int, size int64) *Reader { return &Reader{fd: fd, size: size} }

// HasHoles reports whether a file has less on the disk than its length.
func HasHoles(st *unix.Stat_t) bool { return st.Blocks*512 < st.Size }

// Read implements io.Reader.
func (r *Reader) Read(b []byte) (int, error) {
	if r.at >= r.size {
		return 0, io.EOF
	}
	if r.at >= r.hole {
		r.findContent()
	}
	b = b[:min(int64(len(b)), r.size-r.at)]
	if r.at < r.data {
		b = b[:min(int64(len(b)), r.data-r.at)]
		clear(b)
		r.at += int64(len(b))
		return len(b), nil
	}
	b = b[:min(int64(len(b)), r.hole-r.at)]
	for {
		n, err := unix.Pread(r.fd, b, r.at)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF // it became shorter
		}
		r.at += int64(n)
		return n, nil
	}
}

// findContent finds the next range with content. Where the file system cannot say, all of
// it has.
func (r *Reader) findContent() {
	r.data, r.hole = r.at, r.size
	data, err := unix.Seek(r.fd, r.at, unix.SEEK_DATA)
	switch {
	case err == unix.ENXIO: // a hole up to the end
		var st unix.Stat_t
		if unix.Fstat(r.fd, &st) == nil && st.Size >= r.size {
			r.data = r.size
		}
		return
	case err != nil:
		return
	}
	if r.data = min(data, r.size); r.data == r.size {
		return
	}
	if hole, err := unix.Seek(r.fd, data, unix.SEEK_HOLE); err == nil {
		r.hole = min(hole, r.size)
	}
}

// Writer writes a new, empty file and leaves out blocks of zeros. Finish gives the
// file its length.
type Writer struct {
	fd int
	at int64
}

// NewWriter writes to an open file, which it does not own.
func NewWriter(fd int) *Writer { return &Writer{fd: fd} }

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		skip := w.zeros(b[done:])
		w.at += int64(skip)
		done += skip
		n, err := w.write(b[done:])
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// piece is how many of the bytes lie in the block that the file is at.
func (w *Writer) piece(b []byte, ahead int) int {
	return min(len(b)-ahead, int(block-(w.at+int64(ahead))%block))
}

// zeros returns how many of the bytes need not be written, because they are zeros up to
// the end of a block or of the file.
func (w *Writer) zeros(b []byte) int {
	n := 0
	for n < len(b) {
		piece := w.piece(b, n)
		if !bytes.Equal(b[n:n+piece], zeros[:piece]) {
			return n
		}
		n += piece
	}
	return n
}

// write writes up to the next block of zeros.
func (w *Writer) write(b []byte) (int, error) {
	end := 0
	for end < len(b) {
		piece := w.piece(b, end)
		if end > 0 && bytes.Equal(b[end:end+piece], zeros[:piece]) {
			break
		}
		end += piece
	}
	done := 0
	for done < end {
		n, err := unix.Pwrite(w.fd, b[done:end], w.at)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return done, err
		}
		done += n
		w.at += int64(n)
	}
	return done, nil
}

// Finish gives the file the length that was written.
func (w *Writer) Finish() error { return unix.Ftruncate(w.fd, w.at) }
