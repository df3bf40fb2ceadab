package diskquota

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"choiros/internal/choir"
)

// Project is a folder's limit. Its methods may be called at once.
type Project struct {
	fs    *FS
	id    uint32
	limit Limit

	mu    sync.Mutex // guards wider, and setting the limit
	wider int        // how many want the double of it
}

// NewProject limits the project of a number.
func NewProject(fs *FS, id uint32, l Limit) (*Project, error) {
	p := &Project{fs: fs, id: id, limit: l}
	return p, fs.Limit(id, l)
}

// ID is the project's number.
func (p *Project) ID() uint32 { return p.id }

// Use reads what the project takes.
func (p *Project) Use() (Use, error) { return p.fs.Use(p.id) }

// Widen doubles the limit until narrow is called: what is restored is written
// beside what it replaces. It changes nothing for a nil project.
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

func (p *Project) narrow() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wider--; p.wider > 0 {
		return nil
	}
	return p.fs.Limit(p.id, p.limit)
}

// Hold makes an empty folder, and so all that will be in it, part of the project.
// Code conflict when it holds something that is of no or another project: each
// file there would have to be opened, which a control plane does not do.
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
	if a.of(p.id) {
		return nil
	}
	if names, _ := f.Readdirnames(1); len(names) > 0 {
		return choir.E("diskquota.hold", choir.CodeConflict, "%s was filled before it had a limit", folder).
			WithRemedy("export this computer and import it again: choir export, choir import")
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
	return err == nil && a.of(p.id), choir.Wrap("diskquota.hold", choir.CodeUnavailable, err, "read the project of %s", folder)
}

// of reports whether a folder is of a project, and what is made in it will be.
func (a *fsxattr) of(project uint32) bool { return a.project == project && a.flags&projectInherit != 0 }

func openFolder(path string) (*os.File, error) {
	f, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	return f, choir.Wrap("diskquota.hold", choir.CodeUnavailable, err, "open %s", path)
}
