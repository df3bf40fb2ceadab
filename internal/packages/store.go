package packages

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
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

	mu       sync.Mutex // guards the rest; held for no reading or writing of content
	files    map[string]kept
	size     int64 // of all files
	reserved int64 // of content that is being fetched
}

// kept is one file of the store.
type kept struct {
	sum  string
	size int64
	used time.Time
}

// unfinished begins the names of content that is being fetched.
const unfinished = ".new-"

// keyOf returns the key of an item.
func keyOf(host, path string) string {
	sum := sha256.Sum256([]byte(host + "\n" + path))
	return hex.EncodeToString(sum[:])
}

// openStore makes the folder if it is absent, and removes from it what a crash left and what is
// above the limit.
func openStore(dir string, limit int64) (*store, error) {
	s := &store{dir: dir, limit: limit, files: map[string]kept{}}
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
		key, sum, ok := strings.Cut(e.Name(), ".")
		info, err := e.Info()
		if _, twice := s.files[key]; err != nil || !ok || len(key) != 64 || len(sum) != 64 || twice || !info.Mode().IsRegular() {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return nil, err
			}
			continue
		}
		s.files[key] = kept{sum: sum, size: info.Size(), used: info.ModTime()}
		s.size += info.Size()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoom(0)
	return s, nil
}

// path returns the file of an item.
func (s *store) path(key string, k kept) string { return filepath.Join(s.dir, key+"."+k.sum) }

// open returns the content of an item, of which every byte was compared with its digest; nil if there
// is none. Content that was changed or is gone is removed. It returns ErrPass, and the content stays,
// if it cannot be read now, for want of descriptors say.
func (s *store) open(key string, now time.Time) (f *os.File, size int64, err error) {
	s.mu.Lock()
	k, ok := s.files[key]
	s.mu.Unlock()
	if !ok {
		return nil, 0, nil
	}
	f, err = os.OpenFile(s.path(key, k), os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err == nil {
		h := sha256.New()
		size, err = io.Copy(h, f)
		if err == nil && hex.EncodeToString(h.Sum(nil)) != k.sum {
			err = ErrFalse
		}
		if err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		if err != nil {
			f.Close()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.files[key]; now.sum != k.sum {
		if err == nil {
			f.Close()
		}
		return nil, 0, nil // it was replaced meanwhile
	}
	if err != nil {
		if errors.Is(err, ErrFalse) || errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EISDIR) {
			s.remove(key)
			return nil, 0, nil
		}
		return nil, 0, ErrPass
	}
	k.used = now
	s.files[key] = k
	_ = os.Chtimes(f.Name(), now, now) // else it goes earlier than others after the next start
	return f, size, nil
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
func (s *store) reserve(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > s.limit-s.reserved || !s.makeRoom(n) {
		return ErrPass
	}
	s.reserved += n
	return nil
}

// free gives back what was reserved.
func (s *store) free(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reserved -= n
}

// add puts a fetched file into the store, under the digest of its content.
func (s *store) add(key, file, sum string, size int64, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := kept{sum: sum, size: size, used: now}
	if _, ok := s.files[key]; ok {
		s.remove(key)
	}
	if err := os.Rename(file, s.path(key, k)); err != nil {
		return err
	}
	s.files[key] = k
	s.size += size
	return nil
}

// makeRoom removes what was not used for longest until n more bytes fit below the limit, and on
// the disk, and reports whether they do. The caller holds mu.
func (s *store) makeRoom(n int64) (fits bool) {
	enough := func() bool { return s.size+s.reserved+n <= s.limit && s.diskHas(n) }
	if enough() {
		return true
	}
	keys := slices.SortedFunc(maps.Keys(s.files), func(a, b string) int {
		return cmp.Or(s.files[a].used.Compare(s.files[b].used), cmp.Compare(a, b))
	})
	for _, key := range keys {
		if s.remove(key); enough() {
			return true
		}
	}
	return false
}

// diskHas reports whether n more bytes fit on the disk beside what is left free for the log, the
// content of workspaces and the control plane's own files, twice what these leave to each other.
func (s *store) diskHas(n int64) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(s.dir, &st); err != nil || st.Blocks == 0 {
		return err == nil
	}
	return int64(st.Bavail)*st.Bsize-n >= min(int64(st.Blocks)*st.Bsize/10, 512<<20)
}

// remove removes an item. Who has it open reads on. The caller holds mu.
func (s *store) remove(key string) {
	k := s.files[key]
	delete(s.files, key)
	s.size -= k.size
	if err := os.Remove(s.path(key, k)); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.size += k.size // it takes its room until the next start
	}
}

// usage returns how many items there are and their bytes.
func (s *store) usage() (items int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.files), s.size
}
