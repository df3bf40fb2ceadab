package journal

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// wrapErr turns an error of the operating system into a *choir.Error with a code. nil
// and errors that already are a *choir.Error are returned unchanged.
func wrapErr(op string, err error, path string) error {
	var own *choir.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return err
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		full := choir.Refuse(op, choir.ReasonDiskFull).At(path)
		full.Err = err
		return full
	case errors.Is(err, fs.ErrNotExist):
		return &choir.Error{Op: op, Code: choir.CodeNotFound, Path: path, Msg: "is not there", Err: err}
	}
	return &choir.Error{Op: op, Code: choir.CodeInternal, Path: path, Msg: "the disk refused", Err: err}
}
