package workspace

import (
	"errors"
	"io"
	"os"
	"syscall"

	"choiros/internal/choir"
)

// Spool takes what a person sends into a file without a name, up to the limit.
// What is in memory or on disk already is used as it is. The caller closes.
func (f *files) Spool(content io.Reader) (io.ReadSeekCloser, error) {
	if s, ok := content.(io.ReadSeeker); ok {
		return keptOpen{s}, nil
	}
	return f.unnamed(func(file *os.File) error { return f.fill(file, content) })
}

// unnamed is a file without a name, at the beginning of what fill wrote. The caller
// closes.
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
		err = choir.E("computer.upload", choir.CodeTooLarge, "more than %d bytes were sent", limit).WithRemedy("raise limits.upload_mb in choir.toml")
	}
	return err
}

// codeOfDisk tells a full disk from a sender that went away.
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

// keptOpen is a reader that somebody else closes.
type keptOpen struct{ io.ReadSeeker }

// Close implements io.Closer.
func (keptOpen) Close() error { return nil }
