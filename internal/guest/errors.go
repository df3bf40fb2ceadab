package guest

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"choiros/internal/choir"
)

// errnoCodes says which code an error of the kernel is.
var errnoCodes = []struct {
	err  error
	code choir.Code
}{
	{fs.ErrNotExist, choir.CodeNotFound},
	{fs.ErrExist, choir.CodeConflict},
	{fs.ErrPermission, choir.CodeForbidden},
	{syscall.ENOSPC, choir.CodeNoSpace},
	{syscall.EDQUOT, choir.CodeNoSpace},
	{syscall.EXDEV, choir.CodeRefused}, // openat2: the path leads out
	{syscall.ELOOP, choir.CodeRefused},
	{syscall.ENOTDIR, choir.CodeInvalid},
	{syscall.EISDIR, choir.CodeInvalid},
	{syscall.ENOTEMPTY, choir.CodeConflict},
	{syscall.ENAMETOOLONG, choir.CodeInvalid},
	{syscall.ECONNREFUSED, choir.CodeUnavailable},
	{syscall.EAGAIN, choir.CodeBusy},
	{syscall.ENOMEM, choir.CodeBusy},
	{context.Canceled, choir.CodeCancelled},
	{context.DeadlineExceeded, choir.CodeTimeout},
}

// codeOf is the code of any error, the kernel's too.
func codeOf(err error) choir.Code {
	var e *choir.Error
	if errors.As(err, &e) && e.Code != choir.CodeInternal {
		return e.Code
	}
	for _, row := range errnoCodes {
		if errors.Is(err, row.err) {
			return row.code
		}
	}
	return choir.CodeInternal
}

// pathError gives an error of the kernel its code and the path it is about.
func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	var e *choir.Error
	if errors.As(err, &e) {
		return err
	}
	return &choir.Error{Op: "guest." + op, Code: codeOf(err), Path: path, Msg: "cannot " + op, Err: err}
}

// problemOf is an error on the wire. Unlike choir.ProblemOf it keeps the words
// of internal errors: they speak of the sandbox, and go to its owner.
func problemOf(err error) *choir.Problem {
	p := &choir.Problem{Code: codeOf(err), Message: clip(err.Error(), 4000)}
	var e *choir.Error
	if errors.As(err, &e) {
		bare := *e
		bare.Path, bare.Remedy = "", ""
		p.Message = clip(bare.Error(), 4000)
		p.Path, p.Remedy = clip(e.Path, 4096), clip(e.Remedy, 2000)
	}
	return p
}

// clip shortens to n characters of valid UTF-8.
func clip(s string, n int) string {
	count := 0
	for i := range s {
		if count == n {
			return s[:i]
		}
		count++
	}
	return s
}
