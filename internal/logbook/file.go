package logbook

import (
	"os"
	"sync"
)

// FileBytes is the size at which a file ends and the next begins.
const FileBytes = 1 << 20

// File is a log of bounded size: a full file is called path.1, in place of the one
// before, and the next begins. It is made at the first Write, for its owner alone.
// Nothing syncs it: it tells of choir's doings, and nothing rests on it.
type File struct {
	path string
	most int64

	mu   sync.Mutex // guards what follows
	file *os.File
	size int64
}

// NewFile makes the log at path. It touches nothing.
func NewFile(path string, most int64) *File { return &File{path: path, most: most} }

// Write appends one record. A record that cannot be written is lost, and the next one
// is tried again.
func (f *File) Write(record []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file != nil && f.size+int64(len(record)) > f.most {
		if err := f.turn(); err != nil {
			return 0, err
		}
	}
	if f.file == nil {
		if err := f.open(); err != nil {
			return 0, err
		}
	}
	n, err := f.file.Write(record)
	f.size += int64(n)
	return n, err
}

// open opens the file to append to it. The caller holds mu.
func (f *File) open() error {
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return err
	}
	f.file, f.size = file, info.Size()
	return nil
}

// turn ends the file. The caller holds mu.
func (f *File) turn() error {
	f.file.Close() // nothing rests on what was written
	f.file = nil
	return os.Rename(f.path, former(f.path))
}

// former is the path of the file before.
func former(path string) string { return path + ".1" }

// Close closes the file; a Write after it opens it again.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}
