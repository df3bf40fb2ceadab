package desktop

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// modulesInside is the folder of the packages inside the sandbox.
const modulesInside = "/node_modules"

// Names of folders and files in the folder of one archive: the packages, the packages being
// unpacked, and the mark that they are complete.
const (
	unpackedName = "node_modules"
	growingName  = "growing"
	wholeName    = "whole"

	modulesPrefix = "modules-"
)

// Modules are the npm packages that a desktop's source needs. choir carries them as an
// archive and unpacks it once, when a source was changed.
type Modules struct {
	parent, dir string
	open        func() (io.ReadCloser, error)
	mu          sync.Mutex // held while they are unpacked
}

// NewModules returns the packages of the archive with a digest, in a folder below parent
// named after it. open opens the archive, a zstd-compressed tar.
func NewModules(parent, digest string, open func() (io.ReadCloser, error)) *Modules {
	return &Modules{parent: parent, dir: filepath.Join(parent, modulesPrefix+digest), open: open}
}

// Folder returns the folder of the packages, which may not be unpacked yet. Every user must
// be able to enter it.
func (m *Modules) Folder() string { return filepath.Join(m.dir, unpackedName) }

// Unpack unpacks the packages unless that is done. Sandboxes may already have the folder
// mounted, so it is kept and its entries are renamed into it. Code unavailable: this build
// has no packages (m is nil), or an error.
func (m *Modules) Unpack(ctx context.Context) error {
	if m == nil {
		return choir.Refuse("desktop.modules", choir.ReasonDesktopNotCarried)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	whole := filepath.Join(m.dir, wholeName)
	if _, err := os.Stat(whole); err == nil {
		return nil
	}
	growing := filepath.Join(m.dir, growingName)
	err := errors.Join(m.dropOthers(), os.RemoveAll(growing), os.MkdirAll(m.Folder(), 0o755))
	if err == nil {
		err = m.grow(ctx, growing)
	}
	if err == nil {
		err = m.moveIn(growing)
	}
	if err == nil {
		err = syncAll(m.dir)
	}
	if err == nil {
		err = os.WriteFile(whole, nil, 0o644)
	}
	return choir.Wrap("desktop.modules", choir.CodeUnavailable, err, "unpack the desktop's packages into %s", m.dir)
}

// syncAll syncs the file system of dir, so that the unpacked files are durable before the
// mark that they are complete.
func syncAll(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close() // it is only read
	fault.Point("desktop.modules.sync")
	return unix.Syncfs(int(d.Fd()))
}

// dropOthers removes the packages of other builds, which no sandbox uses any more.
func (m *Modules) dropOthers() error {
	all, err := filepath.Glob(filepath.Join(m.parent, modulesPrefix+"*"))
	for _, dir := range all {
		if dir != m.dir {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

// moveIn renames the unpacked entries from the folder growing into the packages' folder.
func (m *Modules) moveIn(growing string) error {
	entries, err := os.ReadDir(growing)
	if err != nil {
		return err
	}
	for _, e := range entries {
		to := filepath.Join(m.Folder(), e.Name())
		// Of an attempt that was killed.
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		fault.Point("desktop.modules.rename")
		if err := os.Rename(filepath.Join(growing, e.Name()), to); err != nil {
			return err
		}
	}
	return os.Remove(growing)
}

// grow unpacks the archive into the new folder dir.
func (m *Modules) grow(ctx context.Context, dir string) (err error) {
	archive, err := m.open()
	if err != nil {
		return err
	}
	defer archive.Close()
	z, err := zstd.NewReader(archive)
	if err != nil {
		return err
	}
	defer z.Close()
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = entry(root, h, r)
		}
		if err != nil {
			return err
		}
	}
}

// entry creates one folder, file or link of the archive below root. Code corrupt: another
// kind of entry.
func entry(root *os.Root, h *tar.Header, content io.Reader) error {
	name := filepath.Clean(h.Name)
	switch h.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755)
	case tar.TypeSymlink:
		return root.Symlink(h.Linkname, name)
	case tar.TypeReg:
		f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fs.FileMode(h.Mode)&0o755|0o444)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		return errors.Join(err, f.Chmod(fs.FileMode(h.Mode)&0o755|0o444), f.Close())
	}
	return choir.E("desktop.modules", choir.CodeCorrupt, "the archive of packages holds a %q", h.Typeflag)
}
