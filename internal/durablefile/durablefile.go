// Package durablefile replaces and removes small files so that a power cut
// leaves the old or the new content, and nothing in between.
package durablefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"choiros/internal/fault"
)

// newPrefix is what the name of a file begins with that has not got its own yet.
const newPrefix = ".new-"

// ErrReplaced is what an error of Write is when the file has the new content, which
// a power cut may take back. After any other error it has the old content.
var ErrReplaced = errors.New("the file is replaced, and not for certain on disk")

// Write replaces the file at path, readable by its owner alone. It returns once
// the content and the name are on disk.
func Write(path string, raw []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), newPrefix+"*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(raw)
	fault.Point("data.file.sync")
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		fault.Point("data.file.rename")
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	if err := SyncFolder(filepath.Dir(path)); err != nil {
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

// RemoveUnfinished removes what interrupted calls of Write left in a folder.
func RemoveUnfinished(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), newPrefix) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	fault.Point("data.folder.sync")
	return errors.Join(d.Sync(), d.Close())
}
