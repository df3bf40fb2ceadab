package guest

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"choiros/internal/choir"
)

// errnoCodes maps kernel and context errors to codes; the first match counts.
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

// codeOf returns the code of any error, including kernel errors; internal if there is
// none.
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

// pathError converts an error to a choir.Error of an operation on a path, with "cannot
// <op>" as its message. A choir.Error and nil are returned unchanged.
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

// problemOf converts an error to its wire form. Unlike choir.ProblemOf it keeps the text
// of internal errors: they are about the sandbox and go to its owner.
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

// clip returns at most the first n characters of s.
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
