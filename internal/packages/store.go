package packages

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// store is a folder of content, one file for each item: KEY.SHA256, where the key is the SHA-256
// of host and path, and the rest that of the content. The time of a file is when it was used
// last. Nothing is synced: what a power cut leaves behind has another digest than its name says.
type store struct {
	dir   string
	limit int64 // bytes

	mu       sync.Mutex // guards the rest, and what is said so; held for no reading or writing of content
	files    map[string]*kept
	size     int64 // of all files, and of removed files that are being read
	reserved int64 // of content that is being fetched
	unfilled int64 // of these, bytes that take no room on the disk yet
}

// kept is one file of the store.
type kept struct {
	sum  string
	size int64
	// used, readers and removed are guarded by store.mu.
	used    time.Time
	readers int
	removed bool // its bytes are counted until the last reader has left
}

// room counts the bytes that are reserved for content that is being fetched. It is guarded by store.mu.
type room struct {
	size   int64
	filled int64 // bytes that take their room on the disk already
}

// opened is a file of the store that is being read.
type opened struct {
	*os.File
	store *store
	of    *kept
	size  int64
}

// close ends the reading.
func (o *opened) close() error {
	defer o.store.releaseFile(o.of)
	return o.Close()
}

// unfinished begins the names of content that is being fetched.
const unfinished = ".new-"

// keyOf returns the key of an item.
func keyOf(host, path string) string {
	sum := sha256.Sum256([]byte(host + "\n" + path))
	return hex.EncodeToString(sum[:])
}

// given reports whether a store gives a file such a name. The owner's files of other names stay.
func given(name string) bool {
	key, sum, _ := strings.Cut(name, ".")
	for _, digest := range []string{key, sum} {
		if raw, err := hex.DecodeString(digest); err != nil || len(raw) != sha256.Size {
			return strings.HasPrefix(name, unfinished)
		}
	}
	return true
}

// Clear removes all that a cache, which is not open, has kept in a folder, and then the folder if
// nothing else is in it. A folder in which nothing was kept, and a link to one, stay: they may be
// the owner's.
func Clear(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	cleared := false
	for _, e := range entries {
		if given(e.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
			cleared = true
		}
	}
	if !cleared {
		return nil
	}
	if err := unix.Rmdir(dir); err != nil && !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.ENOTDIR) {
		return &os.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return nil
}

// openStore makes the folder if it is absent, and removes from it what a crash left and what is
// above the limit.
func openStore(dir string, limit int64) (*store, error) {
	s := &store{dir: dir, limit: limit, files: map[string]*kept{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !given(e.Name()) {
			continue
		}
		key, sum, _ := strings.Cut(e.Name(), ".")
		info, err := e.Info()
		if _, twice := s.files[key]; err != nil || key == "" || twice || !info.Mode().IsRegular() {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return nil, err
			}
			continue
		}
		s.files[key] = &kept{sum: sum, size: info.Size(), used: info.ModTime()}
		s.size += info.Size()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoom(0)
	return s, nil
}

// path returns the file of an item.
func (s *store) path(key string, k *kept) string { return filepath.Join(s.dir, key+"."+k.sum) }

// open returns the content of an item, of which every byte was compared with its digest; nil if there
// is none. Content that was changed or is gone is removed. It returns ErrPass, and the content stays,
// if it cannot be read now, for want of descriptors say.
func (s *store) open(key string, now time.Time) (*opened, error) {
	s.mu.Lock()
	k := s.files[key]
	if k != nil {
		k.readers++ // nothing takes its place
	}
	s.mu.Unlock()
	if k == nil {
		return nil, nil
	}
	f, size, err := openWhole(s.path(key, k), k.sum)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		k.used = now
		_ = os.Chtimes(f.Name(), now, now) // else it goes earlier than others after the next start
		return &opened{File: f, store: s, of: k, size: size}, nil
	}
	defer s.endReading(k)
	if s.files[key] != k {
		return nil, nil // somebody else found it changed
	}
	if errors.Is(err, ErrFalse) || errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EISDIR) {
		s.remove(key)
		return nil, nil
	}
	return nil, ErrPass
}

// openWhole opens a file and reads it once. It returns ErrFalse if the SHA-256 is another one.
func openWhole(path, sum string) (f *os.File, size int64, err error) {
	f, err = os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, 0, err
	}
	h := sha256.New()
	size, err = io.Copy(h, f)
	if err == nil && hex.EncodeToString(h.Sum(nil)) != sum {
		err = ErrFalse
	}
	if err != nil {
		f.Close()
	}
	return f, size, err
}

// releaseFile counts one reader of a file less, and gives the room of a removed file back with the last.
func (s *store) releaseFile(k *kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endReading(k)
}

// endReading counts one reader less. The caller holds mu.
func (s *store) endReading(k *kept) {
	if k.readers--; k.removed && k.readers == 0 {
		s.size -= k.size
	}
}

// has reports whether there is content of an item, which may have been changed.
func (s *store) has(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.files[key]
	return ok
}

// create returns a new file for content that is being fetched, readable by its owner alone.
func (s *store) create() (*os.File, error) { return os.CreateTemp(s.dir, unfinished+"*") }

// reserve makes room for n more bytes of content that is being fetched. It returns ErrPass if
// there is none; free gives the room back.
func (s *store) reserve(r *room, n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.makeRoom(n) {
		return ErrPass
	}
	r.size += n
	s.reserved += n
	s.unfilled += n
	return nil
}

// fill counts what takes its room on the disk, of what is reserved.
func (s *store) fill(r *room, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if more := bytes - r.filled; more > 0 {
		r.filled += more
		s.unfilled -= more
	}
}

// free gives back what was reserved.
func (s *store) free(r *room) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endRoom(r)
}

// endRoom gives back what was reserved. The caller holds mu.
func (s *store) endRoom(r *room) {
	s.reserved -= r.size
	s.unfilled -= r.size - r.filled
	*r = room{}
}

// add puts a fetched file into the store in place of the room that was reserved for it, under the
// digest of its content. The caller is its first reader, and leaves it. After an error the room
// stays reserved.
func (s *store) add(key, file, sum string, size int64, r *room, now time.Time) (*kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := &kept{sum: sum, size: size, used: now, readers: 1}
	if s.files[key] != nil {
		s.remove(key)
	}
	if err := os.Rename(file, s.path(key, k)); err != nil {
		return nil, err
	}
	s.endRoom(r)
	s.files[key] = k
	s.size += size
	return k, nil
}

// makeRoom removes what was not used for longest until n more bytes fit below the limit, and on
// the disk, and reports whether they do. Nothing is removed that is being read, as its bytes stay
// until then, and nothing at all if that could not bring n more bytes below the limit. The caller holds mu.
func (s *store) makeRoom(n int64) (fits bool) {
	enough := func() bool { return s.size+s.reserved+n <= s.limit && s.diskHas(n) }
	idle, stays := []string{}, s.size
	for key, k := range s.files {
		if k.readers == 0 {
			idle = append(idle, key)
			stays -= k.size
		}
	}
	if n > s.limit-s.reserved-stays {
		return false
	}
	if enough() {
		return true
	}
	slices.SortFunc(idle, func(a, b string) int {
		return cmp.Or(s.files[a].used.Compare(s.files[b].used), cmp.Compare(a, b))
	})
	for _, key := range idle {
		if s.remove(key); enough() {
			return true
		}
	}
	return false
}

// diskHas reports whether n more bytes fit on the disk beside what is left free for the log, the
// content of workspaces and the control plane's own files, twice what these leave to each other. What
// is reserved and not written yet takes its room too. The caller holds mu.
func (s *store) diskHas(n int64) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(s.dir, &st); err != nil || st.Blocks == 0 {
		return err == nil
	}
	return int64(st.Bavail)*st.Bsize-s.unfilled-n >= min(int64(st.Blocks)*st.Bsize/10, 512<<20)
}

// remove removes an item. Who has it open reads on. The caller holds mu.
func (s *store) remove(key string) {
	k := s.files[key]
	delete(s.files, key)
	if err := os.Remove(s.path(key, k)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return // it takes its room until the next start
	}
	k.removed = true
	if k.readers == 0 {
		s.size -= k.size
	}
}

// usage returns how many items there are and their bytes.
func (s *store) usage() (items int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.files), s.size
}
