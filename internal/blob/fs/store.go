// Package fs keeps blobs as files: <dir>/<first two digits>/<sha256>. Small
// content is made durable in a write-ahead log and synced under its name later;
// what is larger is synced before it has a name. docs/FORMAT.md has the layout.
package fs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"choiros/internal/blob"
	"choiros/internal/choir"
	"choiros/internal/durablefile"
	"choiros/internal/fault"
	"choiros/internal/sparse"
)

// Store is a blob.Store and blob.Batcher in a folder. One process at a time may write
// to the folder. Closing the store leaves nothing for the next Open to recover.
type Store struct {
	dir     string
	temp    atomic.Uint64 // names of temporary files
	wal     *wal
	recent  recent
	folders folders
	// unsynced counts names that were given and whose folders are not synced yet.
	unsynced atomic.Int64
	settleMu sync.Mutex // guards the turn of who syncs what the log holds
	// names[i] guards the names in the folder of the digests that begin with byte i:
	// Remove holds it alone, who gives a name or a newer time together with others.
	names [256]sync.RWMutex
	// damaged are the digests of content that a reader found damaged, until it is put
	// again.
	damaged sync.Map
}

const tempDir = "tmp"

// Open opens or creates a store in dir. It recovers from an interrupted process:
// temporary files are removed, and the content of the write-ahead log is made durable
// in files.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir, folders: folders{made: 1}} // what an earlier process made is not known to be durable
	s.wal = newWAL(filepath.Join(dir, walDir), s.recent.add, s.flushIdle)
	if err := s.prepare(); err != nil {
		return nil, wrapErr("blob.open", err, dir)
	}
	return s, nil
}

// Put implements blob.Store.
func (s *Store) Put(ctx context.Context, content io.Reader) (choir.Digest, int64, error) {
	d, n, err := s.put(ctx, blob.ContextReader(ctx, content))
	return d, n, wrapErr("blob.put", err, s.dir)
}

func (s *Store) put(ctx context.Context, content io.Reader) (choir.Digest, int64, error) {
	start, err := io.ReadAll(io.LimitReader(content, maxRecord+1))
	if err != nil {
		return "", 0, err
	}
	if len(start) > maxRecord {
		return s.putLong(io.MultiReader(bytes.NewReader(start), content))
	}
	d, n := choir.DigestOf(start), int64(len(start))
	if s.holds(record{d, start}) {
		known, err := s.renew(ctx, d)
		if err != nil {
			return "", 0, err
		}
		if known {
			return d, n, s.storeParts(&parts{known: []choir.Digest{d}})
		}
	}
	return d, n, s.storeParts(&parts{small: []record{{d, start}}})
}

// renew updates the time of existing content, so that no collection removes it. known
// is false if a collection has just removed it.
func (s *Store) renew(ctx context.Context, d choir.Digest) (known bool, err error) {
	err = s.Touch(ctx, d)
	if choir.CodeOf(err) == choir.CodeNotFound {
		return false, nil
	}
	return err == nil, err
}

// putLong stores content that is too long for the log, through a temporary file.
func (s *Store) putLong(content io.Reader) (choir.Digest, int64, error) {
	t, err := s.create()
	if err != nil {
		return "", 0, err
	}
	defer t.drop()
	h := sha256.New()
	w := &longWriter{store: s, file: sparse.NewWriter(int(t.file.Fd()))}
	n, err := io.Copy(io.MultiWriter(w, h), content)
	if err == nil {
		err = w.file.Finish()
	}
	if err != nil {
		return "", 0, err
	}
	d := choir.DigestFrom([32]byte(h.Sum(nil)))
	if s.has(d, n) {
		known, err := s.renew(context.Background(), d)
		if err != nil {
			return "", 0, err
		}
		if known {
			return d, n, s.storeParts(&parts{known: []choir.Digest{d}})
		}
	}
	return d, n, s.storeParts(&parts{files: map[choir.Digest]*temporary{d: t}})
}

// Open implements blob.Store.
func (s *Store) Open(_ context.Context, d choir.Digest) (io.ReadCloser, error) {
	if !d.Valid() {
		return nil, choir.Invalid("digest", "%q is not a SHA-256", d)
	}
	if b, ok := s.recent.get(d); ok {
		return b.open(), nil
	}
	f, err := os.Open(s.path(d))
	if err != nil {
		return nil, wrapErr("blob.open", err, string(d))
	}
	return &checkedReader{store: s, file: f, want: d, hash: sha256.New()}, nil
}

// Size implements blob.Store.
func (s *Store) Size(_ context.Context, d choir.Digest) (int64, error) {
	if !d.Valid() {
		return 0, choir.Invalid("digest", "%q is not a SHA-256", d)
	}
	if b, ok := s.recent.get(d); ok {
		return int64(len(b.content)), nil
	}
	if _, ok := s.damaged.Load(d); ok {
		return 0, errDamaged("blob.size", d)
	}
	st, err := os.Stat(s.path(d))
	if err != nil {
		return 0, wrapErr("blob.size", err, string(d))
	}
	return st.Size(), nil
}

func (s *Store) folder(d choir.Digest) string { return filepath.Join(s.dir, string(d[:2])) }
func (s *Store) path(d choir.Digest) string   { return filepath.Join(s.dir, string(d[:2]), string(d)) }

// namesOf returns the lock that guards the name of a digest's file.
func (s *Store) namesOf(d choir.Digest) *sync.RWMutex {
	first, _ := strconv.ParseUint(string(d[:2]), 16, 8)
	return &s.names[first]
}

// has reports whether content exists in its full length. Content that is too short or
// was found damaged counts as absent, so that it is put again.
func (s *Store) has(d choir.Digest, size int64) bool {
	if s.recent.has(d) {
		return true
	}
	st, err := os.Stat(s.path(d))
	_, damaged := s.damaged.Load(d)
	return err == nil && st.Size() == size && !damaged
}

// holds is has for content in memory; it also compares the bytes of a stored file.
func (s *Store) holds(r record) bool {
	return s.has(r.digest, int64(len(r.content))) && (s.recent.has(r.digest) || len(r.content) > maxRecord || s.intact(r))
}

// publish renames a temporary file to its digest and clears the digest's damage mark.
func (s *Store) publish(t *temporary, d choir.Digest) error {
	fault.Point("blob.rename")
	names := s.namesOf(d)
	names.RLock()
	err := s.withFolder(d, func() error { return os.Rename(t.name, s.path(d)) })
	names.RUnlock()
	if err == nil {
		s.damaged.Delete(d)
	}
	return err
}

// temporary is content in a temporary file.
type temporary struct {
	name string
	file *os.File
}

func (s *Store) create() (*temporary, error) {
	name := filepath.Join(s.dir, tempDir, strconv.FormatUint(s.temp.Add(1), 10))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o400)
	return &temporary{name: name, file: f}, err
}

// drop closes the file and removes it unless publish renamed it.
func (t *temporary) drop() {
	t.file.Close() // whatever mattered has been synced
	if err := os.Remove(t.name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return // Open removes what stays
	}
}

func syncDir(dir string) error {
	fault.Point("blob.folder.sync")
	return durablefile.Sync(dir)
}

// wrapErr turns err into a *choir.Error with a code. nil and errors that already are a
// *choir.Error, such as those of the content's source, are returned unchanged.
func wrapErr(op string, err error, path string) error {
	var own *choir.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return err
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		full := choir.Refuse(op, choir.ReasonDiskFull).At(path)
		full.Err = err
		return full
	case errors.Is(err, os.ErrNotExist):
		return &choir.Error{Op: op, Code: choir.CodeNotFound, Path: path, Msg: "is not in the blob store"}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &choir.Error{Op: op, Code: choir.CodeCancelled, Path: path, Msg: "stopped", Err: err}
	}
	return &choir.Error{Op: op, Code: choir.CodeInternal, Path: path, Msg: "the disk or the source failed", Err: err}
}
