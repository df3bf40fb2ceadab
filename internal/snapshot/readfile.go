package snapshot

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/sparse"
)

const (
	smallFile = 1 << 20   // read whole; above this, streamed
	readSize  = 256 << 10 // of a streamed file, at a time
	readTries = 4         // for a file that changes while it is read
)

// ErrChanged ends the reading of an object whose file is not what it was when it
// was hashed.
var ErrChanged = errors.New("the file changed while it was read")

// errGrew says that a file became longer while it was read; what it had when the
// reading began was read whole.
var errGrew = errors.New("the file grew while it was read")

// file reads and emits a file's content, again while it changes. st becomes
// what the file was when it was read. ErrChanged says that a large file did not
// hold still.
func (s *scan) file(dir int, n *node, st *unix.Stat_t) error {
	s.result.Hashed++
	for try := 1; ; try++ {
		err := s.readOnce(dir, n, st)
		switch {
		case err == errGrew:
		case err != ErrChanged:
			return err
		case try < readTries:
			continue
		case st.Size > smallFile:
			return err
		}
		s.result.Unstable = append(s.result.Unstable, EscapePath(s.path))
		return nil
	}
}

// readOnce reads the file as it is now. ErrChanged means that it changed
// meanwhile; a small file's reading is then still emitted and consistent with st.
func (s *scan) readOnce(dir int, n *node, st *unix.Stat_t) error {
	fd, err := openFile(dir, n.Name)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Fstat(fd, st); err != nil {
		return err
	}
	if kindOf(st.Mode) != File {
		return unix.ENOENT // replaced just now; the next scan sees by what
	}
	if limit := s.shared.cfg.Limits.FileBytes; st.Size > MaxFileBytes || limit > 0 && st.Size > limit {
		return unix.ENOENT // it grew over the limit just now, and is left out by the next scan
	}
	if st.Size > smallFile {
		return s.readLarge(fd, n, st)
	}
	content, err := s.readSmall(fd, int(st.Size))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	if changedSince(fd, st) {
		st.Size = int64(len(content))
		st.Ctim = unix.Timespec{} // so that the next scan reads it again
		err = ErrChanged
	}
	if sum == n.Sum && n.Kind == File && !n.read.zero() {
		return err
	}
	n.Sum = sum
	if gerr := s.give(Object{Digest: choir.DigestFrom(sum), Size: int64(len(content)), Content: content}, sum); gerr != nil {
		return gerr
	}
	return err
}

func (s Stamp) zero() bool { return s == Stamp{} }

// openFile opens without following a link and without waiting for a fifo's
// writer, should the file have become one.
func openFile(dir int, name string) (int, error) {
	return openAnyway(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC)
}

// readSmall reads up to size bytes into the scanner's buffer.
func (s *scan) readSmall(fd, size int) ([]byte, error) {
	if cap(s.buf) < size {
		s.buf = make([]byte, max(size, 64<<10))
	}
	got := 0
	for got < size {
		n, err := unix.Pread(fd, s.buf[got:size], int64(got))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break // it became shorter
		}
		got += n
	}
	return s.buf[:got], nil
}

func changedSince(fd int, st *unix.Stat_t) bool {
	var now unix.Stat_t
	return unix.Fstat(fd, &now) != nil || now.Size != st.Size || now.Mtim != st.Mtim || now.Ctim != st.Ctim
}

// readLarge hashes a file and emits it by a second reading. A file that only grew
// meanwhile is taken as it was: whether its beginning is still the same shows when
// it is read again.
func (s *scan) readLarge(fd int, n *node, st *unix.Stat_t) error {
	h := sha256.New()
	size, err := io.CopyBuffer(onlyWriter{h}, onlyReader{&contextReader{s.ctx, contentOf(fd, st)}}, s.largeBuf())
	if err != nil {
		return err
	}
	grew := false
	if size != st.Size {
		return ErrChanged
	}
	if changedSince(fd, st) {
		if !grewSince(fd, st) {
			return ErrChanged
		}
		grew = true
		st.Ctim = unix.Timespec{} // so that the next scan reads it again
	}
	sum := Sum(h.Sum(nil))
	if sum != n.Sum || n.Kind != File || n.read.zero() {
		n.Sum = sum
		path := string(s.path)
		err = s.give(Object{Digest: choir.DigestFrom(sum), Size: size, Open: func() (io.ReadCloser, error) {
			return openChecked(s.rootFD, path, sum, size)
		}}, sum)
	}
	if err == nil && grew {
		err = errGrew
	}
	return err
}

// contentOf reads a file to the length that it had, without its holes.
func contentOf(fd int, st *unix.Stat_t) io.Reader {
	if sparse.HasHoles(st) {
		return sparse.NewReader(fd, st.Size)
	}
	return io.NewSectionReader(fdReader(fd), 0, st.Size)
}

func grewSince(fd int, st *unix.Stat_t) bool {
	var now unix.Stat_t
	return unix.Fstat(fd, &now) == nil && now.Size > st.Size
}

// contextReader ends with its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(b []byte) (int, error) {
	if err := ended(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}

// onlyReader hides other methods, as onlyWriter does.
type onlyReader struct{ io.Reader }

func (s *scan) largeBuf() []byte {
	if cap(s.buf) < readSize {
		s.buf = make([]byte, readSize)
	}
	return s.buf[:readSize]
}

// onlyWriter hides other methods, so that io.CopyBuffer uses its buffer.
type onlyWriter struct{ io.Writer }

// fdReader reads at offsets of a file descriptor that it does not own.
type fdReader int

func (fd fdReader) ReadAt(b []byte, at int64) (int, error) {
	for {
		n, err := unix.Pread(int(fd), b, at)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// readExactly reads to the end, which must come after size bytes.
func readExactly(r io.Reader, size int64) ([]byte, error) {
	content := make([]byte, size)
	if _, err := io.ReadFull(r, content); err != nil {
		return nil, ErrChanged
	}
	if _, err := r.Read(make([]byte, 1)); err != io.EOF {
		return nil, ErrChanged
	}
	return content, nil
}

// checkedFile reads a file and errors with ErrChanged at its end when it is not
// what it was when it was hashed.
type checkedFile struct {
	*os.File
	content io.Reader
	hash    hash.Hash
	sum     Sum
	left    int64
}

func openChecked(root int, path string, sum Sum, size int64) (io.ReadCloser, error) {
	fd, err := openBelow(root, path)
	if err != nil {
		return nil, pathError("open", EscapePath([]byte(path)), err)
	}
	f := os.NewFile(uintptr(fd), "")
	var content io.Reader = io.NewSectionReader(f, 0, size)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil && sparse.HasHoles(&st) {
		content = sparse.NewReader(fd, size)
	}
	return &checkedFile{File: f, content: content, hash: sha256.New(), sum: sum, left: size}, nil
}

func (c *checkedFile) Read(b []byte) (int, error) {
	n, err := c.content.Read(b)
	c.hash.Write(b[:n])
	c.left -= int64(n)
	if err == io.EOF && (c.left != 0 || Sum(c.hash.Sum(nil)) != c.sum) {
		return n, ErrChanged
	}
	return n, err
}
