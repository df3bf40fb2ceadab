package eval

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"choiros/internal/choir"
)

// File is a file or, with a target, a symbolic link. Absent, in a tree that is put over another, is no
// file at that path.
type File struct {
	Exec    bool
	Content []byte
	Target  string
	Absent  bool
}

// Tree is a project's files by their slash-separated paths. Empty folders are not in it.
type Tree map[string]File

// ReadTree reads the files below a folder. Files that are neither regular nor links are left out, and so
// is .git.
func ReadTree(root string) (Tree, error) {
	t := Tree{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		f, kept, err := readFile(path, d)
		if kept {
			t[filepath.ToSlash(rel)] = f
		}
		return err
	})
	return t, choir.Wrap("eval.tree", choir.CodeInvalid, err, "read %s", root)
}

// readFile reads one file or link; kept is false for anything else.
func readFile(path string, d fs.DirEntry) (f File, kept bool, err error) {
	info, err := d.Info()
	if err != nil {
		return f, false, err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		f.Target, err = os.Readlink(path)
		return f, true, err
	case info.Mode().IsRegular():
		f.Exec = info.Mode()&0o100 != 0
		f.Content, err = os.ReadFile(path)
		return f, true, err
	}
	return f, false, nil
}

// Over returns a tree with the files of other in place of its own at the same paths. A file of other
// takes the place of a folder or a file above it, too.
func (t Tree) Over(other Tree) Tree {
	out := Tree{}
	for path, f := range t {
		if !hiddenBy(other, path) {
			out[path] = f
		}
	}
	maps.Copy(out, other)
	maps.DeleteFunc(out, func(_ string, f File) bool { return f.Absent })
	return out
}

// hiddenBy reports whether a file of other is above path. A folder of other above a file of the same name
// as path hides it as well.
func hiddenBy(other Tree, path string) bool {
	for at := path; at != "."; at = pathpkg.Dir(at) {
		if f, ok := other[at]; ok && (at == path || !f.Absent) {
			return true
		}
	}
	for over, f := range other {
		if !f.Absent && strings.HasPrefix(over, path+"/") {
			return true
		}
	}
	return false
}

// WriteTar writes the tree as a tar, in the order of its paths and with one time for all files.
func (t Tree) WriteTar(w io.Writer, at time.Time) error {
	tw := tar.NewWriter(w)
	for _, path := range slices.Sorted(maps.Keys(t)) {
		f := t[path]
		h := &tar.Header{Name: path, Mode: 0o644, Size: int64(len(f.Content)), ModTime: at, Typeflag: tar.TypeReg, Format: tar.FormatPAX}
		if f.Exec {
			h.Mode = 0o755
		}
		if f.Target != "" {
			h.Typeflag, h.Linkname, h.Size, h.Mode = tar.TypeSymlink, f.Target, 0, 0o777
		}
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		if h.Size == 0 {
			continue
		}
		if _, err := tw.Write(f.Content); err != nil {
			return err
		}
	}
	return tw.Close()
}

// ReadTar reads a tree from a tar. Folders and special files are left out. Code invalid: it is no tar, a
// path leads out of the tree, or the content has more than limit bytes.
func ReadTar(r io.Reader, limit int64) (Tree, error) {
	t, tr := Tree{}, tar.NewReader(r)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, choir.Wrap("eval.tree", choir.CodeInvalid, err, "read the tar of a project")
		}
		path := strings.TrimPrefix(filepath.ToSlash(filepath.Clean(h.Name)), "./")
		if !filepath.IsLocal(path) {
			return nil, choir.Refuse("eval.tree", choir.ReasonEvalTarPath, choir.TextOf("path", h.Name))
		}
		switch h.Typeflag {
		case tar.TypeSymlink:
			t[path] = File{Target: h.Linkname}
		case tar.TypeReg:
			content, err := io.ReadAll(io.LimitReader(tr, limit+1))
			if limit -= int64(len(content)); err != nil || limit < 0 {
				return nil, choir.Refuse("eval.tree", choir.ReasonEvalTarBroken, choir.TextOf("path", h.Name))
			}
			t[path] = File{Exec: h.Mode&0o100 != 0, Content: content}
		}
	}
}
