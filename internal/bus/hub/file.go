package hub

import (
	"os"
	"path/filepath"

	"choiros/internal/fault"
)

// writeFile replaces a file by new content so that a crash leaves the old or
// the new one, both whole. Mode 0600.
func writeFile(path string, content []byte) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already once it was renamed
	_, err = f.Write(content)
	if err == nil {
		fault.Point("bus.file.sync")
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		fault.Point("bus.file.rename")
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = syncDir(dir)
	}
	return err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	fault.Point("bus.folder.sync")
	err = d.Sync()
	if closed := d.Close(); err == nil {
		err = closed
	}
	return err
}
