package tools

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"choiros/internal/choir"
	faults "choiros/internal/fault"
)

// Workspace is the only tree the tools see. Every path is resolved by the
// kernel below one open folder (os.Root), so that neither "..", nor a link, nor
// a link swapped in meanwhile leads out.
type Workspace struct {
	root *os.Root
	dir  string // absolute path of the workspace
	base string // the task's folder below it, "." for the whole workspace
}

// OpenWorkspace opens the workspace at dir for a task whose folder is base,
// slash-separated below it.
func OpenWorkspace(dir, base string) (*Workspace, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, choir.Wrap("tools.open", choir.CodeUnavailable, err, "open the workspace")
	}
	w := &Workspace{root: root, dir: filepath.Clean(dir), base: path.Clean(base)}
	if info, err := root.Stat(w.base); err != nil || !info.IsDir() {
		root.Close()
		return nil, choir.E("tools.open", choir.CodeNotFound, "there is no folder %s in the workspace", base)
	}
	return w, nil
}

// Close lets go of the folder.
func (w *Workspace) Close() error { return w.root.Close() }

// resolve turns a path as the model writes it (below the task's folder, or
// absolute below the workspace) into one below the workspace.
func (w *Workspace) resolve(p string) (string, error) {
	name := path.Join(w.base, p)
	if path.IsAbs(p) {
		rel, err := filepath.Rel(w.dir, path.Clean(p))
		if err != nil {
			return "", outside(p)
		}
		name = rel
	}
	if strings.Contains(p, "\x00") {
		return "", choir.Invalid("path", "has a zero byte")
	}
	if !filepath.IsLocal(name) {
		return "", outside(p)
	}
	return name, nil
}

func outside(p string) error {
	e := choir.Invalid("path", "%q leads out of the workspace", p)
	e.Code = choir.CodeForbidden
	return e
}

// fault turns an error of the file system into one a model can react to.
func fault(p string, err error) error {
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "escapes from parent"): // os.Root has no error value for it
		return outside(p)
	case errors.Is(err, fs.ErrNotExist):
		return &choir.Error{Code: choir.CodeNotFound, Path: "path", Msg: strconv.Quote(p) + " does not exist"}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return choir.Wrap("tools", choir.CodeNoSpace, err, "write %q", p)
	case errors.Is(err, fs.ErrPermission):
		return &choir.Error{Code: choir.CodeForbidden, Path: "path", Msg: strconv.Quote(p) + " may not be opened: permission denied"}
	}
	return &choir.Error{Code: choir.CodeInvalid, Path: "path", Msg: strconv.Quote(p), Err: err}
}

// open opens a regular file for reading; it never waits for a pipe's writer.
func (w *Workspace) open(p string) (*os.File, fs.FileInfo, error) {
	name, err := w.resolve(p)
	if err != nil {
		return nil, nil, err
	}
	f, err := w.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fault(p, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		f.Close()
		return nil, nil, fault(p, err)
	case !info.Mode().IsRegular():
		f.Close()
		return nil, nil, choir.Invalid("path", "%q is a %s, not a file", p, kindOf(info.Mode()))
	}
	return f, info, nil
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "folder"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeSymlink != 0:
		return "link"
	}
	return "device"
}

// slurp reads a whole file of at most max bytes.
func (w *Workspace) slurp(p string, max int64) ([]byte, fs.FileMode, error) {
	f, info, err := w.open(p)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, max+1))
	if err != nil {
		return nil, 0, fault(p, err)
	}
	if int64(len(content)) > max {
		return nil, 0, &choir.Error{Code: choir.CodeTooLarge, Path: "path", Msg: strconv.Quote(p) + " has more than " + strconv.FormatInt(max, 10) + " bytes"}
	}
	return content, info.Mode().Perm(), nil
}

// replace writes a file atomically: nobody ever sees half of it. A link is
// followed and its target replaced.
func (w *Workspace) replace(p string, content []byte, mode fs.FileMode) error {
	name, err := w.resolve(p)
	if err != nil {
		return err
	}
	if name, err = w.follow(p, name); err != nil {
		return err
	}
	temp, err := w.temporary(p, path.Dir(name))
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	if err == nil && mode != 0 {
		err = temp.Chmod(mode)
	}
	if cerr := temp.Close(); err == nil {
		err = cerr
	}
	tempName := path.Join(path.Dir(name), filepath.Base(temp.Name()))
	if err == nil {
		faults.Point("tools.file.rename")
		err = w.root.Rename(tempName, name)
	}
	if err != nil {
		_ = w.root.Remove(tempName) // the first error is the one to tell
		return fault(p, err)
	}
	return nil
}

func (w *Workspace) temporary(p, dir string) (*os.File, error) {
	for n := 0; ; n++ {
		f, err := w.root.OpenFile(path.Join(dir, ".choir-write-"+strconv.Itoa(n)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue
		}
		return f, fault(p, err)
	}
}

// maxLinks is how many links one path may take, as in Linux.
const maxLinks = 40

// follow resolves the last part of a path while it is a link.
func (w *Workspace) follow(p, name string) (string, error) {
	for range maxLinks {
		info, err := w.root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return name, nil
		}
		if err != nil {
			return "", fault(p, err)
		}
		target, err := w.root.Readlink(name)
		if err != nil {
			return "", fault(p, err)
		}
		if name = path.Join(path.Dir(name), target); path.IsAbs(target) || !filepath.IsLocal(name) {
			return "", outside(p)
		}
	}
	return "", choir.Invalid("path", "%q is a chain of too many links", p)
}
