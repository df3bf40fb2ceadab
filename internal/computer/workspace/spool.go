package workspace

import (
	"errors"
	"io"
	"os"
	"syscall"

	"choiros/internal/choir"
)

// Spool copies a person's upload into an unnamed file, up to the upload limit. It
// returns a content that can already seek unchanged. The caller closes the result.
func (f *files) Spool(content io.Reader) (io.ReadSeekCloser, error) {
	if s, ok := content.(io.ReadSeeker); ok {
		return keptOpen{s}, nil
	}
	return f.unnamed(func(file *os.File) error { return f.fill(file, content) })
}

// unnamed creates an unnamed temporary file, lets fill write it and rewinds it. The
// caller closes it.
func (f *files) unnamed(fill func(*os.File) error) (*os.File, error) {
	file, err := os.CreateTemp(f.tree.cfg.Dir, ".upload-*")
	if err != nil {
		return nil, choir.Wrap("computer.upload", codeOfDisk(err), err, "take what was sent")
	}
	err = os.Remove(file.Name())
	if err == nil {
		err = fill(file)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, choir.Wrap("computer.upload", codeOfDisk(err), errors.Join(err, file.Close()), "take what was sent")
	}
	return file, nil
}

func (f *files) fill(file *os.File, content io.Reader) error {
	limit := f.tree.cfg.MaxUpload
	if limit <= 0 {
		_, err := io.Copy(file, content)
		return err
	}
	n, err := io.Copy(file, io.LimitReader(content, limit+1))
	if err == nil && n > limit {
		err = choir.Refuse("computer.upload", choir.ReasonUploadTooLarge, choir.BytesOf("limit", limit))
	}
	return err
}

// codeOfDisk returns the error code for a failed upload: no_space for a full disk,
// another for a sender that disconnected.
func codeOfDisk(err error) choir.Code {
	var e *choir.Error
	switch {
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return choir.CodeNoSpace
	}
	return choir.CodeUnavailable
}

// keptOpen is a reader whose Close does nothing, because its owner closes it.
type keptOpen struct{ io.ReadSeeker }

// Close implements io.Closer.
func (keptOpen) Close() error { return nil }
