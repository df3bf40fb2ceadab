// Package foldersize sums the files below a folder.
package foldersize

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Size is the sum over everything below a folder.
type Size struct {
	Bytes   int64 `json:"bytes"`   // that the file system allots
	Entries int64 `json:"entries"` // files, folders and links
	// Cut says that there is more: the sum ended at its bound.
	Cut bool `json:"cut,omitempty"`
}

// errCut ends a walk at its bound.
var errCut = errors.New("there are more entries")

// Of sums a folder and what lies below it, up to a number of entries. It follows no
// links, and passes over what vanishes meanwhile or may not be read. A folder that is
// not there has nothing. The error is that of the context.
func Of(ctx context.Context, dir string, most int64) (Size, error) {
	var s Size
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return nil // it vanished, or may not be read
		}
		if s.Entries >= most {
			return errCut
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		s.Entries++
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			s.Bytes += st.Blocks * 512
		}
		return nil
	})
	if errors.Is(err, errCut) {
		s.Cut, err = true, nil
	}
	return s, err
}
