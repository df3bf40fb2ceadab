package computer

import (
	"errors"
	"io"
	"os"
	"syscall"

	"choiros/internal/choir"
)

// spool takes what a person sends into a file without a name, up to the limit.
// What is in memory or on disk already is used as it is. The caller closes.
func (c *Computer) spool(content io.Reader) (io.ReadSeekCloser, error) {
	if s, ok := content.(io.ReadSeeker); ok {
		return keptOpen{s}, nil
	}
	return c.unnamed(func(f *os.File) error { return c.fill(f, content) })
}

// unnamed is a file without a name, at the beginning of what fill wrote. The caller
// closes.
func (c *Computer) unnamed(fill func(*os.File) error) (*os.File, error) {
	f, err := os.CreateTemp(c.cfg.Dir, ".upload-*")
	if err != nil {
		return nil, choir.Wrap("computer.upload", codeOfDisk(err), err, "take what was sent")
	}
	err = os.Remove(f.Name())
	if err == nil {
		err = fill(f)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, choir.Wrap("computer.upload", codeOfDisk(err), errors.Join(err, f.Close()), "take what was sent")
	}
	return f, nil
}

func (c *Computer) fill(f *os.File, content io.Reader) error {
	limit := c.cfg.MaxUpload
	if limit <= 0 {
		_, err := io.Copy(f, content)
		return err
	}
	n, err := io.Copy(f, io.LimitReader(content, limit+1))
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
