package tools

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"choiros/internal/choir"
)

// drafts are files whose new content is made before any of them is written.
type drafts struct {
	files *Workspace
	list  []*draft
}

// draft is a file and its new content.
type draft struct {
	path    string
	before  []byte
	mode    fs.FileMode // 0 for that of a new file
	content []byte
	gone    bool // it is to be removed
	fresh   bool // it did not exist before
}

// open returns the draft of an existing file, the same for the same path.
func (d *drafts) open(p string) (*draft, error) {
	if f := d.find(p); f != nil {
		if f.gone {
			return nil, choir.Invalid("path", "%q is removed before", p)
		}
		return f, nil
	}
	content, mode, err := d.files.slurp(p, maxEditBytes)
	if err != nil {
		return nil, err
	}
	if _, err := d.files.resolveOwn(p); err != nil {
		return nil, err
	}
	f := &draft{path: p, before: content, mode: mode, content: content}
	d.list = append(d.list, f)
	return f, nil
}

// create returns the draft of a file that does not exist yet.
func (d *drafts) create(p string) (*draft, error) {
	name, err := d.files.resolveOwn(p)
	if err != nil {
		return nil, err
	}
	f := d.find(p)
	if _, err := d.files.own.Lstat(name); f == nil && err == nil {
		return nil, choir.Invalid("path", "%q exists already; update it", p)
	}
	if f != nil && !f.gone {
		return nil, choir.Invalid("path", "%q is in the patch before", p)
	}
	if f == nil {
		f = &draft{path: p, fresh: true}
		d.list = append(d.list, f)
	}
	f.gone = false
	return f, nil
}

// find returns the draft of a path or of another name of the same file, nil if there is none.
func (d *drafts) find(p string) *draft {
	name, err := d.files.resolve(p)
	if err != nil {
		return nil
	}
	info, ierr := d.files.root.Stat(name)
	for _, f := range d.list {
		other, err := d.files.resolve(f.path)
		if err == nil && other == name {
			return f
		}
		if there, err := d.files.root.Stat(other); err == nil && ierr == nil && os.SameFile(info, there) {
			return f
		}
	}
	return nil
}

// names returns the paths of the files, with commas.
func (d *drafts) names() string {
	var all []string
	for _, f := range d.list {
		all = append(all, f.path)
	}
	return strings.Join(all, ", ")
}

// write writes all files. If one cannot be written, those before it get their former content
// back.
func (d *drafts) write() error {
	for i, f := range d.list {
		err := d.files.put(f.path, f.content, f.mode, f.gone)
		if err == nil {
			continue
		}
		for _, done := range d.list[:i] {
			err = errors.Join(err, d.files.put(done.path, done.before, done.mode, done.fresh))
		}
		return err
	}
	return nil
}

// put writes a file of the task's folder, creating folders as needed, or removes it.
func (w *Workspace) put(p string, content []byte, mode fs.FileMode, remove bool) error {
	name, err := w.resolveOwn(p)
	if err != nil {
		return err
	}
	if remove {
		if err = w.own.Remove(name); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fault(p, err)
	}
	if err := w.own.MkdirAll(path.Dir(name), 0o777); err != nil {
		return fault(p, err)
	}
	return w.replace(p, content, mode)
}
