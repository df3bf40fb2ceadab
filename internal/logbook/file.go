package logbook

import (
	"os"
	"sync"
)

// FileBytes is the size at which choir's log file is rotated.
const FileBytes = 1 << 20

// File is a log file of limited size: a full file is renamed to path.1, replacing the former one,
// and a new one begins. It is created at the first Write, with mode 600. It is never synced.
type File struct {
	path string
	most int64

	mu   sync.Mutex // guards file and size
	file *os.File
	size int64
}

// NewFile returns the log file at path, rotated at most bytes. It does not touch the disk.
func NewFile(path string, most int64) *File { return &File{path: path, most: most} }

// Write appends one record. After an error the record is lost, and the next Write tries again.
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

// open opens the file for appending. The caller holds mu.
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

// turn closes the file and renames it to path.1. The caller holds mu.
func (f *File) turn() error {
	f.file.Close() // nothing rests on what was written
	f.file = nil
	return os.Rename(f.path, former(f.path))
}

// former returns the path of the previous file.
func former(path string) string { return path + ".1" }

// Close closes the file; a later Write opens it again.
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
