package diskquota

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// Project is a project with its limit. Its methods are safe for concurrent use.
type Project struct {
	fs    *FS
	id    uint32
	limit Limit

	mu    sync.Mutex // guards wider and changes of the limit
	wider int        // number of callers that need the doubled limit
}

// NewProject sets the limit of project id and returns the project.
func NewProject(fs *FS, id uint32, l Limit) (*Project, error) {
	p := &Project{fs: fs, id: id, limit: l}
	return p, fs.Limit(id, l)
}

// ID returns the project's number.
func (p *Project) ID() uint32 { return p.id }

// Use returns the project's usage and limit.
func (p *Project) Use() (Use, error) { return p.fs.Use(p.id) }

// Widen doubles the limit until narrow is called, because a restore writes new files beside
// the old ones. For a nil project it does nothing.
func (p *Project) Widen() (narrow func() error, err error) {
	if p == nil {
		return func() error { return nil }, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wider == 0 {
		if err := p.fs.Limit(p.id, p.limit.doubled()); err != nil {
			return nil, err
		}
	}
	p.wider++
	return sync.OnceValue(p.narrow), nil
}

// narrow ends one use of the doubled limit and, after the last, restores the limit.
func (p *Project) narrow() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wider--; p.wider > 0 {
		return nil
	}
	return p.fs.Limit(p.id, p.limit)
}

// Hold makes an empty folder part of the project, so that its future files are too. Code
// conflict: the folder has files and is not part of it; their project could be set only by
// opening each, which the control plane does not do.
func (p *Project) Hold(folder string) error {
	f, err := openFolder(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	var a fsxattr
	if err := attributes(int(f.Fd()), getAttributes, &a); err != nil {
		return choir.Wrap("diskquota.hold", choir.CodeUnavailable, err, "read the project of %s", folder)
	}
	if a.inProject(p.id) {
		return nil
	}
	if names, _ := f.Readdirnames(1); len(names) > 0 {
		return choir.Refuse("diskquota.hold", choir.ReasonQuotaFilled, choir.TextOf("path", folder))
	}
	a.project, a.flags = p.id, a.flags|projectInherit
	return choir.Wrap("diskquota.hold", choir.CodeUnavailable, attributes(int(f.Fd()), setAttributes, &a), "make %s part of project %d", folder, p.id)
}

// Holds reports whether a folder is part of the project.
func (p *Project) Holds(folder string) (bool, error) {
	f, err := openFolder(folder)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var a fsxattr
	err = attributes(int(f.Fd()), getAttributes, &a)
	return err == nil && a.inProject(p.id), choir.Wrap("diskquota.hold", choir.CodeUnavailable, err, "read the project of %s", folder)
}

// inProject reports whether a folder with these attributes is in a project and new entries inherit it.
func (a *fsxattr) inProject(project uint32) bool {
	return a.project == project && a.flags&projectInherit != 0
}

// openFolder opens a folder; it does not follow a symbolic link.
func openFolder(path string) (*os.File, error) {
	f, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	return f, choir.Wrap("diskquota.hold", choir.CodeUnavailable, err, "open %s", path)
}
