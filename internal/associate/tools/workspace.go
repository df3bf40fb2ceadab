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

// Workspace gives the tools access to the workspace: they read all of it and write below
// the task's folder. The kernel resolves every path below an open folder (os.Root), so
// that neither ".." nor a link, even one swapped in meanwhile, leads outside.
type Workspace struct {
	root *os.Root
	own  *os.Root // the task's folder
	dir  string   // absolute path of the workspace
	base string   // the task's folder below it, "." for the whole workspace
}

// OpenWorkspace opens the workspace at dir for a task whose folder is base, relative to dir. The caller
// closes it. Code not_found: there is no such folder.
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
	if w.own, err = root.OpenRoot(w.base); err != nil {
		root.Close()
		return nil, choir.Wrap("tools.open", choir.CodeUnavailable, err, "open the folder %s of the workspace", base)
	}
	return w, nil
}

// Close closes the open folders.
func (w *Workspace) Close() error { return errors.Join(w.own.Close(), w.root.Close()) }

// resolveOwn returns a path as the model writes it relative to the task's folder. Code
// forbidden for a path outside, which a task may only read.
func (w *Workspace) resolveOwn(p string) (string, error) {
	name, err := w.resolve(p)
	if err != nil {
		return "", err
	}
	own, err := filepath.Rel(w.base, name)
	if err != nil || !filepath.IsLocal(own) {
		e := choir.Invalid("path", "%q lies outside of the task's folder, where a task can read and not write", p)
		e.Code = choir.CodeForbidden
		return "", e
	}
	return filepath.ToSlash(own), nil
}

// resolve returns a path as the model writes it (below the task's folder, or absolute)
// relative to the workspace. Code forbidden for a path outside the workspace.
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

// outside returns the error for a path outside the workspace, with code forbidden.
func outside(p string) error {
	e := choir.Invalid("path", "%q leads out of the workspace", p)
	e.Code = choir.CodeForbidden
	return e
}

// fault returns the error of the file system for path p as a choir.Error whose code the
// model or the task can react to.
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

// open opens a regular file for reading and returns it with its information. It does not
// block on a named pipe. Code invalid: not a regular file.
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

// kindOf returns the word for a kind of file.
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

// slurp returns the content and permissions of a file of at most max bytes; code
// too_large for a larger one.
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

// replace writes a file atomically, in the task's folder, with permissions mode unless
// that is 0. If p is a link, it writes the link's target.
func (w *Workspace) replace(p string, content []byte, mode fs.FileMode) error {
	name, err := w.resolveOwn(p)
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
		err = w.own.Rename(tempName, name)
	}
	if err != nil {
		_ = w.own.Remove(tempName) // the first error is the one to tell
		return fault(p, err)
	}
	return nil
}

// temporary creates a new temporary file in the folder dir; p is the path for errors.
func (w *Workspace) temporary(p, dir string) (*os.File, error) {
	for n := 0; ; n++ {
		f, err := w.own.OpenFile(path.Join(dir, ".choir-write-"+strconv.Itoa(n)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue
		}
		return f, fault(p, err)
	}
}

// maxLinks limits the links that follow resolves for one path, as in Linux.
const maxLinks = 40

// follow returns the name that the link name finally points to, or name if it is no link.
// p is the path as the model wrote it, for errors. Code forbidden if a link leads outside
// the task's folder.
func (w *Workspace) follow(p, name string) (string, error) {
	for range maxLinks {
		info, err := w.own.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return name, nil
		}
		if err != nil {
			return "", fault(p, err)
		}
		target, err := w.own.Readlink(name)
		if err != nil {
			return "", fault(p, err)
		}
		if name = path.Join(path.Dir(name), target); path.IsAbs(target) || !filepath.IsLocal(name) {
			return "", outside(p)
		}
	}
	return "", choir.Invalid("path", "%q is a chain of too many links", p)
}
