package verify

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// fresh is a copy of a project in a folder of its own, at the same path below its root.
// Nothing is written through links that lead out of it.
type fresh struct {
	dir  string
	root *os.Root
}

// Limits of a copy: files and folders, and their bytes.
const (
	maxCopied     = 100_000
	maxCopiedSize = 512 << 20
)

// errTooLarge refuses a copy beyond its limits.
var errTooLarge = choir.E("verify.copy", choir.CodeTooLarge, "the project is too large to be copied")

// newFresh makes an empty place below the folder scratch.
func newFresh(scratch string) (*fresh, error) {
	dir, err := os.MkdirTemp(scratch, "verify-")
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	return &fresh{dir, root}, nil
}

// remove removes the place with all that is in it.
func (f *fresh) remove() error {
	_ = f.root.Close() // nothing was written through it that could be lost
	err := os.RemoveAll(f.dir)
	if err == nil {
		return nil
	}
	// A test may have closed a folder.
	_ = filepath.WalkDir(f.dir, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700) // RemoveAll says better what is wrong
		}
		return nil
	})
	return os.RemoveAll(f.dir)
}

// copying is the work of copying a tree into a place.
type copying struct {
	*fresh
	from   *os.Root
	ctx    context.Context
	files  int
	bytes  int64
	exact  bool   // modes stay, and folders are linked only when they are surely caches
	whole  bool   // nothing is linked or left out
	buffer []byte // for content
}

// pair is a folder that is copied, and its copy. Names in them are looked up without the way to
// them, which takes most of the time in a tree with many small files.
type pair struct {
	from, to *os.Root
	path     string // from the root of the tree
	depth    int
}

// maxDepth bounds the folders inside of each other, of which each has files open.
const maxDepth = 500

// copyFrom copies the folder top of the tree at root. Code too_large: it is larger than
// may be copied.
func (f *fresh) copyFrom(ctx context.Context, root, top string) error {
	from, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer from.Close()
	return (&copying{fresh: f, from: from, ctx: ctx}).walk(top)
}

// CopyTree copies the folder top of the tree at root to the same path below the folder dir,
// with modes and times. Installed packages become links unless it copies the whole, and a git
// repository finds its objects in the other. What cannot be read is left out. Code too_large: it is
// larger than may be copied.
func CopyTree(ctx context.Context, root, dir, top string, whole bool) error {
	from, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer to.Close()
	if info, err := from.Lstat(top); err != nil || !info.IsDir() {
		return choir.E("verify.copy", choir.CodeNotFound, "there is no folder %s", top)
	}
	c := &copying{fresh: &fresh{dir, to}, from: from, ctx: ctx, exact: true, whole: whole}
	if err := to.MkdirAll(path.Dir(filepath.ToSlash(top)), 0o700); err != nil {
		return err
	}
	return c.walk(filepath.ToSlash(top))
}

// isCache reports whether a folder is linked rather than copied: one of another's packages
// or of build results.
func (c *copying) isCache(p string) bool {
	base := path.Base(p)
	if base != ".venv" && base != "venv" && base != "target" {
		return false
	}
	marks := []string{"pyvenv.cfg", "CACHEDIR.TAG", ".rustc_info.json"}
	return !c.exact || slices.ContainsFunc(marks, func(name string) bool {
		_, err := c.from.Lstat(path.Join(p, name))
		return err == nil
	})
}

// walk copies the folder top.
func (c *copying) walk(top string) error {
	c.buffer = make([]byte, 256<<10)
	if err := c.root.MkdirAll(top, 0o700); err != nil {
		return err
	}
	return c.open(pair{from: c.from, to: c.root, path: path.Dir(top)}, top, top)
}

// open copies the folder name of a pair, which has been made in the copy, to the path p.
func (c *copying) open(in pair, name, p string) (err error) {
	if in.depth >= maxDepth {
		return errTooLarge
	}
	from, err := in.from.OpenRoot(name)
	if err != nil {
		return nil // gone meanwhile, or not readable for tests either
	}
	defer from.Close()
	to, err := in.to.OpenRoot(name)
	if err != nil {
		return err
	}
	defer to.Close()
	if err := c.folder(pair{from, to, p, in.depth + 1}); err != nil || !c.exact {
		return err
	}
	info, err := from.Stat(".")
	if err != nil {
		return nil // gone meanwhile
	}
	return errors.Join(to.Chtimes(".", info.ModTime(), info.ModTime()), to.Chmod(".", info.Mode().Perm()))
}

// folder copies what is in a folder.
func (c *copying) folder(in pair) error {
	dir, err := in.from.Open(".")
	if err != nil {
		return nil // not readable for tests either
	}
	entries, err := dir.ReadDir(-1)
	dir.Close()
	if err != nil {
		return nil // gone meanwhile
	}
	for _, d := range entries {
		if err := c.entry(in, path.Join(in.path, d.Name()), d); err != nil {
			return err
		}
	}
	return nil
}

// entry copies one file, folder or link.
func (c *copying) entry(in pair, p string, d fs.DirEntry) error {
	if err := c.ctx.Err(); err != nil {
		return context.Cause(c.ctx)
	}
	c.files++
	if c.files > maxCopied {
		return errTooLarge
	}
	base := d.Name()
	switch {
	case d.IsDir() && strings.HasSuffix(p, ".git/objects"):
		return c.objects(p)
	case d.IsDir() && !c.whole && (base == "__pycache__" || base == ".pytest_cache" || base == ".tox" || base == ".mypy_cache"):
		return nil
	case d.IsDir() && !c.whole && c.isCache(p):
		return c.link(p)
	case d.IsDir() && !c.whole && base == "node_modules":
		return c.packages(p)
	case d.IsDir():
		if err := in.to.Mkdir(base, 0o700); err != nil {
			return err
		}
		return c.open(in, base, p)
	case d.Type()&fs.ModeSymlink != 0:
		target, err := in.from.Readlink(base)
		if err != nil {
			return nil // gone meanwhile
		}
		return in.to.Symlink(target, base)
	case d.Type().IsRegular():
		return c.file(in, base)
	}
	return nil
}

func (c *copying) file(in pair, name string) error {
	// A pipe in the place of the file must not be waited for.
	from, err := in.from.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil // gone meanwhile, or not readable for tests either
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil // it is another one now
	}
	if c.bytes += info.Size(); c.bytes > maxCopiedSize { // before it is read: a file may be all holes
		return errTooLarge
	}
	to, err := in.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	err = c.content(from, to, info.Size())
	if c.exact {
		err = errors.Join(err, to.Chmod(info.Mode().Perm()))
	}
	return errors.Join(err, to.Close(), in.to.Chtimes(name, info.ModTime(), info.ModTime()))
}

// content copies no more than the bytes that a file had when it was looked at, which were counted.
func (c *copying) content(from, to *os.File, bytes int64) error {
	for bytes > 0 {
		n, err := from.Read(c.buffer[:min(bytes, int64(len(c.buffer)))])
		if n > 0 {
			if _, err := to.Write(c.buffer[:n]); err != nil {
				return err
			}
		}
		if bytes -= int64(n); err != nil {
			return nil // shorter now
		}
	}
	return nil
}

// link makes a link to a folder that tests only read.
func (c *copying) link(p string) error {
	return c.root.Symlink(filepath.Join(c.from.Name(), filepath.FromSlash(p)), p)
}

// packages copies a node_modules folder as links. Links to packages of the project itself
// stay relative, so that they lead to the copies.
func (c *copying) packages(dir string) error {
	if err := c.root.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := fs.ReadDir(c.from.FS(), dir)
	if err != nil {
		return nil // not readable for tests either
	}
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		var err error
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			var target string
			if target, err = c.from.Readlink(p); err == nil {
				err = c.root.Symlink(target, p)
			}
		case e.IsDir() && strings.HasPrefix(e.Name(), "@"):
			err = c.packages(p)
		default:
			err = c.link(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// objects lets a repository find its objects where they are.
func (c *copying) objects(p string) error {
	if err := c.root.MkdirAll(path.Join(p, "info"), 0o700); err != nil {
		return err
	}
	from := filepath.Join(c.from.Name(), filepath.FromSlash(p))
	return c.root.WriteFile(path.Join(p, "info/alternates"), []byte(from+"\n"), 0o600)
}

// restore puts a changed file back as it was before the change.
func (f *fresh) restore(c Changed) error {
	now, _ := f.root.ReadFile(c.Path) // nothing is as good as not readable
	if c.Before == nil {
		if _, err := f.root.Lstat(c.Path); err != nil {
			return nil // it was not copied
		}
		return f.root.RemoveAll(c.Path)
	}
	if err := f.makeParent(c.Path); err != nil {
		return err
	}
	if err := f.root.RemoveAll(c.Path); err != nil {
		return err
	}
	if c.Before.Link != "" {
		return f.root.Symlink(c.Before.Link, c.Path)
	}
	content, err := c.Before.Read()
	if err != nil {
		return err
	}
	if path.Base(c.Path) == "package.json" && now != nil {
		content = formerPackage(content, now)
	}
	return f.root.WriteFile(c.Path, content, os.FileMode(c.Before.Mode)&0o777|0o600)
}

// makeParent makes the folder of a file, in place of a file or link of its name.
func (f *fresh) makeParent(file string) error {
	dir := path.Dir(file)
	for d := dir; d != "."; d = path.Dir(d) {
		if info, err := f.root.Lstat(d); err == nil && !info.IsDir() {
			if err := f.root.Remove(d); err != nil {
				return err
			}
		}
	}
	return f.root.MkdirAll(dir, 0o700)
}
