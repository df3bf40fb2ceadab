// Package durablefile replaces and removes small files so that a power cut
// leaves the old or the new content, and nothing in between.
package durablefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"choiros/internal/fault"
)

// newMark is the part of a temporary file's name that marks it as unfinished.
const newMark = ".new-"

// ErrReplaced is wrapped by an error of Write after the file already has its new
// content, which a power cut may undo. After any other error the file has its old
// content.
var ErrReplaced = errors.New("the file is replaced, and not for certain on disk")

// Files writes files of one kind. Its functions pass the kind's fault points, by which
// the crash matrix tells the kinds apart; all are required.
type Files struct {
	BeforeSync       func() // of the content
	BeforeRename     func() // to the name of the file that is replaced
	BeforeFolderSync func() // which makes that name durable
}

// data is the files whose kind has no points of its own.
var data = Files{
	BeforeSync:       func() { fault.Point("data.file.sync") },
	BeforeRename:     func() { fault.Point("data.file.rename") },
	BeforeFolderSync: func() { fault.Point("data.folder.sync") },
}

// RenamedAt returns a kind of files with its own fault point before the rename; the
// other points are the common ones.
func RenamedAt(point func()) Files {
	return Files{BeforeSync: data.BeforeSync, BeforeRename: point, BeforeFolderSync: data.BeforeFolderSync}
}

// Write replaces the file at path durably, with the common fault points; see
// Files.Write.
func Write(path string, raw []byte) error { return data.Write(path, raw) }

// Write replaces the file at path, readable by its owner alone. It returns once
// the content and the name are on disk.
func (k Files) Write(path string, raw []byte) error {
	return k.WriteFrom(path, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
}

// WriteFrom replaces the file at path like Write, with the content that write produces.
// After an error of write the file keeps its old content.
func (k Files) WriteFrom(path string, write func(io.Writer) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+newMark+"*")
	if err != nil {
		return err
	}
	if err = write(tmp); err == nil {
		k.BeforeSync()
		err = tmp.Sync()
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		k.BeforeRename()
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	if err := k.SyncFolder(filepath.Dir(path)); err != nil {
		return fmt.Errorf("%w: %w", ErrReplaced, err)
	}
	return nil
}

// Remove removes the file at path. A file that is not there is no error.
func Remove(path string) error {
	fault.Point("data.file.remove")
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, SyncFolder(filepath.Dir(path)))
}

// RemoveUnfinished removes the temporary files of interrupted calls of Write from a
// folder, which need not be there.
func RemoveUnfinished(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if Unfinished(e.Name()) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// Unfinished reports whether a name is the temporary name of a file that Write has not
// put in its place.
func Unfinished(name string) bool {
	return strings.HasPrefix(name, ".") && strings.Contains(name, newMark)
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(path string) error { return data.SyncFolder(path) }

// SyncFolder makes the names in a folder durable.
func (k Files) SyncFolder(path string) error {
	k.BeforeFolderSync()
	return Sync(path)
}

// Sync makes the content of a file, or the names in a folder, durable. The caller
// passes the fault point.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
