// Package fs keeps blobs as files: <dir>/<first two digits>/<sha256>, whole and
// durable under their name or not there. docs/FORMAT.md has the layout.
package fs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// Store is a blob.Store and a blob.Batcher on a folder. One process at a time
// may have a folder open.
type Store struct {
	dir  string
	temp atomic.Uint64 // names of temporary files
}

const tempDir = "tmp"

// Open opens or creates a store in dir and removes what an interrupted Put left.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir}
	err := os.RemoveAll(filepath.Join(dir, tempDir))
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, tempDir), 0o700)
	}
	if err == nil {
		err = s.makeFolders()
	}
	if err == nil {
		err = syncDir(dir) // whoever made a folder may not have come to this
	}
	if err != nil {
		return nil, fail("blob.open", err, dir)
	}
	return s, nil
}

// makeFolders makes all folders that content can be in, so that no Put has to
// make one and wait until it is durable.
func (s *Store) makeFolders() error {
	there, err := os.ReadDir(s.dir)
	if err != nil || len(there) > 256 { // and the temporary one
		return err
	}
	for i := range 256 {
		err := os.Mkdir(filepath.Join(s.dir, fmt.Sprintf("%02x", i)), 0o700)
		if err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}

// Put implements blob.Store.
func (s *Store) Put(ctx context.Context, content io.Reader) (choir.Digest, int64, error) {
	t, err := s.create()
	if err != nil {
		return "", 0, fail("blob.put", err, s.dir)
	}
	defer t.drop()
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(t.file, h), &contextReader{ctx, content})
	if err != nil {
		return "", 0, fail("blob.put", err, s.dir)
	}
	d := choir.DigestFrom([32]byte(h.Sum(nil)))
	if !s.has(d, n) {
		fault.Point("blob.sync")
		if err := t.file.Sync(); err != nil {
			return "", 0, fail("blob.put", err, s.dir)
		}
		if err := s.settle(t, d); err != nil {
			return "", 0, fail("blob.put", err, s.dir)
		}
	} else if err := s.Touch(ctx, d); err != nil {
		return "", 0, err
	}
	// Also for what was there: whoever put it may not have synced its name yet.
	if err := syncDir(s.folder(d)); err != nil {
		return "", 0, fail("blob.put", err, s.dir)
	}
	return d, n, nil
}

// Open implements blob.Store.
func (s *Store) Open(_ context.Context, d choir.Digest) (io.ReadCloser, error) {
	if !d.Valid() {
		return nil, choir.Invalid("digest", "%q is not a SHA-256", d)
	}
	f, err := os.Open(s.path(d))
	if err != nil {
		return nil, fail("blob.open", err, string(d))
	}
	return &checkedReader{file: f, want: d, hash: sha256.New()}, nil
}

// Size implements blob.Store.
func (s *Store) Size(_ context.Context, d choir.Digest) (int64, error) {
	if !d.Valid() {
		return 0, choir.Invalid("digest", "%q is not a SHA-256", d)
	}
	st, err := os.Stat(s.path(d))
	if err != nil {
		return 0, fail("blob.size", err, string(d))
	}
	return st.Size(), nil
}

func (s *Store) folder(d choir.Digest) string { return filepath.Join(s.dir, string(d[:2])) }
func (s *Store) path(d choir.Digest) string   { return filepath.Join(s.dir, string(d[:2]), string(d)) }

// has reports whether content is there in its full length. One that was cut off
// is put again.
func (s *Store) has(d choir.Digest, size int64) bool {
	st, err := os.Stat(s.path(d))
	return err == nil && st.Size() == size
}

// settle gives synced content its name. The caller syncs the folder.
func (s *Store) settle(t *temporary, d choir.Digest) error {
	fault.Point("blob.rename")
	return os.Rename(t.name, s.path(d))
}

// temporary is content without a name yet.
type temporary struct {
	name string
	file *os.File
}

func (s *Store) create() (*temporary, error) {
	name := filepath.Join(s.dir, tempDir, strconv.FormatUint(s.temp.Add(1), 10))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o400)
	return &temporary{name, f}, err
}

// drop closes the file and removes it unless it has been settled.
func (t *temporary) drop() {
	t.file.Close() // whatever mattered has been synced
	if err := os.Remove(t.name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return // Open removes what stays
	}
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	fault.Point("blob.folder.sync")
	return d.Sync()
}

// fail gives an error its code; an *Error, such as the source's, stays.
func fail(op string, err error, path string) error {
	var own *choir.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return err
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return &choir.Error{Op: op, Code: choir.CodeNoSpace, Path: path, Msg: "the disk is full",
			Remedy: "free some space and try again; nothing was left behind", Err: err}
	case errors.Is(err, os.ErrNotExist):
		return &choir.Error{Op: op, Code: choir.CodeNotFound, Path: path, Msg: "is not in the blob store"}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &choir.Error{Op: op, Code: choir.CodeCancelled, Path: path, Msg: "stopped", Err: err}
	}
	return &choir.Error{Op: op, Code: choir.CodeInternal, Path: path, Msg: "the disk or the source failed", Err: err}
}
