// Package syncedfile makes small files of a computer's folder durable, in place: a
// power cut may leave a part of the content. Who replaces a file that is there uses
// durablefile.
package syncedfile

import (
	"errors"
	"os"
	"path/filepath"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// Write makes a file with this content, readable by its owner alone, and returns once
// content and name are on disk. Code unavailable when it cannot.
func Write(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(content)
		fault.Point("fork.file.sync")
		err = errors.Join(err, f.Sync(), f.Close(), SyncFolder(filepath.Dir(path)))
	}
	return choir.Wrap("computer.begin", choir.CodeUnavailable, err, "write %s", path)
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	fault.Point("fork.folder.sync")
	return errors.Join(d.Sync(), d.Close())
}
