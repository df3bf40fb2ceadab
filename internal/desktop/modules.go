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

// modulesInside is where the sandbox sees the packages.
const modulesInside = "/node_modules"

// Names below the folder of one archive.
const (
	unpackedName = "node_modules"
	growingName  = "growing"
	wholeName    = "whole"

	modulesPrefix = "modules-"
)

// Modules are the packages that a desktop's source needs, carried by choir and
// unpacked once, when the first source was changed.
type Modules struct {
	parent, dir string
	open        func() (io.ReadCloser, error)
	mu          sync.Mutex // held while they are unpacked
}

// NewModules are packages in a folder below parent that follows from the
// archive's digest. open gives the archive, a zstd-compressed tar.
func NewModules(parent, digest string, open func() (io.ReadCloser, error)) *Modules {
	return &Modules{parent: parent, dir: filepath.Join(parent, modulesPrefix+digest), open: open}
}

// Folder is where the packages are, or will be. Everybody must be able to enter
// it.
func (m *Modules) Folder() string { return filepath.Join(m.dir, unpackedName) }

// Unpack makes sure that the packages are there. Sandboxes may have the folder
// bound already, so it stays the same one, and its entries come by renaming.
func (m *Modules) Unpack(ctx context.Context) error {
	if m == nil {
		return choir.E("desktop.modules", choir.CodeUnavailable, "the desktop's source was changed, and this build of choir does not carry what serves it").
			WithRemedy("build it with: make build")
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

// syncAll makes what was unpacked durable, before the mark says that it is whole.
func syncAll(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close() // it is only read
	fault.Point("desktop.modules.sync")
	return unix.Syncfs(int(d.Fd()))
}

// dropOthers removes the packages of other builds, of which no sandbox is left.
func (m *Modules) dropOthers() error {
	all, err := filepath.Glob(filepath.Join(m.parent, modulesPrefix+"*"))
	for _, dir := range all {
		if dir != m.dir {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

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

// grow unpacks the archive into a new folder.
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

// entry makes one folder, file or link; others have no business there.
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
