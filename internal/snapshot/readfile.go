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

// ErrChanged is the read error of an object whose file has changed since it was hashed.
var ErrChanged = errors.New("the file changed while it was read")

// errGrew is the error for a file that became longer during its read. The content up to
// its former length was read whole.
var errGrew = errors.New("the file grew while it was read")

// file reads a file and emits its content if that is new. It retries if the file changes
// meanwhile, up to readTries times, and sets st to the stat of the last read. A large
// file that keeps changing is ErrChanged; of a small one the last read counts, and it is
// listed in Result.Unstable.
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

// readOnce reads the file once, sets st, and emits the content if it is new. ErrChanged
// means that the file changed during the read: a small file's content was emitted anyway
// and is consistent with st. ENOENT means that the path was replaced or now exceeds the
// limit.
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
	if gerr := s.emitOnce(Object{Digest: choir.DigestFrom(sum), Size: int64(len(content)), Content: content}, sum); gerr != nil {
		return gerr
	}
	return err
}

func (s Stamp) zero() bool { return s == Stamp{} }

// openFile opens a name in the open folder dir for reading. It does not follow a symbolic
// link and does not block on a fifo.
func openFile(dir int, name string) (int, error) {
	return openAnyway(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC)
}

// readSmall reads up to size bytes into the scanner's buffer and returns them; the bytes
// are valid until the next call. Fewer bytes mean that the file became shorter.
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

// readLarge hashes a file without holding it in memory and emits it, if it is new, as an
// object that reads the file again. A file that only grew meanwhile is emitted with its
// former length, and errGrew is returned; any other change is ErrChanged.
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
		err = s.emitOnce(Object{Digest: choir.DigestFrom(sum), Size: size, Open: func() (io.ReadCloser, error) {
			return openChecked(s.rootFD, path, sum, size)
		}}, sum)
	}
	if err == nil && grew {
		err = errGrew
	}
	return err
}

// contentOf returns a reader of the file's content up to its length in st. Holes of a
// sparse file are not read from disk.
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

// contextReader is a reader that fails once its context has ended.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(b []byte) (int, error) {
	if err := contextError(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}

// onlyReader hides the reader's other methods, so that io.CopyBuffer uses its buffer.
type onlyReader struct{ io.Reader }

func (s *scan) largeBuf() []byte {
	if cap(s.buf) < readSize {
		s.buf = make([]byte, readSize)
	}
	return s.buf[:readSize]
}

// onlyWriter hides the writer's other methods, so that io.CopyBuffer uses its buffer.
type onlyWriter struct{ io.Writer }

// fdReader is an io.ReaderAt on a file descriptor. It does not close it.
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

// readExactly reads size bytes, after which r must end. Fewer or more bytes are
// ErrChanged.
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

// checkedFile reads a file and verifies its hash and length at the end: a mismatch is
// ErrChanged instead of io.EOF.
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
