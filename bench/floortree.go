package bench

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// floorTree is a tree of files with what a stat of each path returned last. Its scan asks
// the kernel what every scan has to ask: whether each folder and each path in it is still
// what it was. Two goroutines do it, as many as the product uses.
type floorTree struct {
	root    string
	folders []*floorFolder
}

// floorFolder is one folder: its path below the root and the entries that are no folders.
type floorFolder struct {
	path  string
	stamp floorStamp
	names []string
	files []floorStamp
}

// floorStamp has the fields of a stat that a write changes.
type floorStamp struct {
	ino, mode    uint64
	size         int64
	mtime, ctime unix.Timespec
}

func floorStampOf(st *unix.Stat_t) floorStamp {
	return floorStamp{ino: st.Ino, mode: uint64(st.Mode), size: st.Size, mtime: st.Mtim, ctime: st.Ctim}
}

// openFloorTree lists the tree at root and takes the first stat of each path.
func openFloorTree(root string) (*floorTree, error) {
	t := &floorTree{root: root}
	byPath := map[string]*floorFolder{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			f := &floorFolder{path: rel}
			byPath[rel], t.folders = f, append(t.folders, f)
			return nil
		}
		f := byPath[filepath.Dir(rel)]
		f.names = append(f.names, e.Name())
		f.files = append(f.files, floorStamp{})
		return nil
	})
	if err == nil {
		_, err = t.scan()
	}
	return t, choir.Wrap("bench.floor", choir.CodeUnavailable, err, "list %s", root)
}

// scan takes the stat of every folder and path again, and returns the paths of files that
// changed.
func (t *floorTree) scan() (changed []string, err error) {
	root, err := unix.Open(t.root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(root)
	var next atomic.Int64
	var found [2][]string
	var errs [2]error
	var both sync.WaitGroup
	for w := range found {
		both.Go(func() {
			for errs[w] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(t.folders) {
					return
				}
				found[w], errs[w] = t.folders[i].scan(root, found[w])
			}
		})
	}
	both.Wait()
	return append(found[0], found[1]...), errors.Join(errs[:]...)
}

// scan is scan of one folder. It appends the changed paths to changed.
func (f *floorFolder) scan(root int, changed []string) ([]string, error) {
	fd, err := unix.Openat(root, f.path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return changed, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return changed, err
	}
	f.stamp = floorStampOf(&st)
	for i, name := range f.names {
		if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return changed, err
		}
		if now := floorStampOf(&st); now != f.files[i] {
			f.files[i] = now
			changed = append(changed, filepath.Join(f.path, name))
		}
	}
	return changed, nil
}

// floorLog is a file of records: each append is one write into space that was written
// before, and one fdatasync.
type floorLog struct {
	file *os.File
	end  int64
}

// floorLogBytes is the size of a floorLog, whose space is written when it is made: syncs
// into such space are the cheapest.
const floorLogBytes = 16 << 20

func newFloorLog(path string) (*floorLog, error) {
	f, err := os.Create(path)
	if err == nil {
		_, err = f.Write(make([]byte, floorLogBytes))
	}
	if err == nil {
		err = f.Sync()
	}
	return &floorLog{file: f}, choir.Wrap("bench.floor", choir.CodeUnavailable, err, "make %s", path)
}

// append writes a record and returns when it is durable.
func (l *floorLog) append(record []byte) error {
	if l.end+int64(len(record)) > floorLogBytes {
		l.end = 0
	}
	_, err := l.file.WriteAt(record, l.end)
	l.end += int64(len(record))
	return errors.Join(err, unix.Fdatasync(int(l.file.Fd())))
}

// floorRecord returns a record of so many bytes.
func floorRecord(bytes int) []byte {
	record := make([]byte, bytes)
	_, _ = rand.Read(record) // it never fails
	return record
}

func (l *floorLog) close() error { return l.file.Close() }
