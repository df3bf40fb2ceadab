package journal

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// fail gives an error of the operating system its code; nil stays nil and an
// *Error stays as it is.
func fail(op string, err error, path string) error {
	var own *choir.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return err
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return &choir.Error{Op: op, Code: choir.CodeNoSpace, Path: path, Msg: "the disk is full",
			Remedy: "free some space and try again; nothing was half-written", Err: err}
	case errors.Is(err, fs.ErrNotExist):
		return &choir.Error{Op: op, Code: choir.CodeNotFound, Path: path, Msg: "is not there", Err: err}
	}
	return &choir.Error{Op: op, Code: choir.CodeInternal, Path: path, Msg: "the disk refused", Err: err}
}
