package desktop

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"

	"choiros/internal/choir"
	"choiros/internal/fault"
)

// modulesInside is the folder of the packages inside the sandbox.
const modulesInside = "/node_modules"

// Names of folders and files in the folder of one build: the packages, an archive being
// unpacked, and the marks that each archive is complete.
const (
	unpackedName = "node_modules"
	growingName  = "growing"
	wholeName    = "whole"
	wholeTools   = "whole-tools"

	modulesPrefix = "modules-"
)

// Archive opens a zstd-compressed tar.
type Archive func() (io.ReadCloser, error)

// Modules are the npm packages that a desktop's source needs, and the packages that lint and test it.
// choir carries them as two archives and unpacks each once, when a source was changed.
type Modules struct {
	parent, dir     string
	packages, tools Archive
	mu              sync.Mutex // held while one of them is unpacked
}

// NewModules returns the packages of two archives with a joint digest, in a folder below parent
// named after it.
func NewModules(parent, digest string, packages, tools Archive) *Modules {
	return &Modules{parent: parent, dir: filepath.Join(parent, modulesPrefix+digest), packages: packages, tools: tools}
}

// Folder returns the folder of the packages, which may not be unpacked yet. Every user must
// be able to enter it.
func (m *Modules) Folder() string { return filepath.Join(m.dir, unpackedName) }

// Unpack unpacks the packages that a server of the source needs unless that is done. Sandboxes
// may already have the folder mounted, so it is kept and its entries are renamed into it. Code
// unavailable: this build has no packages (m is nil), or an error.
func (m *Modules) Unpack(ctx context.Context) error {
	if m == nil {
		return choir.Refuse("desktop.modules", choir.ReasonDesktopNotCarried)
	}
	return m.unpack(ctx, wholeName, m.packages)
}

// UnpackTools is Unpack, and then unpacks the packages that lint and test the source.
func (m *Modules) UnpackTools(ctx context.Context) error {
	if err := m.Unpack(ctx); err != nil {
		return err
	}
	return m.unpack(ctx, wholeTools, m.tools)
}

// unpack unpacks an archive unless a file with the name mark is there.
func (m *Modules) unpack(ctx context.Context, mark string, archive Archive) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	whole := filepath.Join(m.dir, mark)
	if _, err := os.Stat(whole); err == nil {
		return nil
	}
	growing := filepath.Join(m.dir, growingName)
	err := errors.Join(m.dropOthers(), os.RemoveAll(growing), os.MkdirAll(m.Folder(), 0o755))
	if err == nil {
		err = grow(ctx, archive, growing)
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

// moveIn renames the unpacked entries from the folder growing into the packages' folder, and last
// those with a dot, whose presence says that the others are there.
func (m *Modules) moveIn(growing string) error {
	entries, err := os.ReadDir(growing)
	if err != nil {
		return err
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int {
		return cmp.Compare(dotted(a.Name()), dotted(b.Name()))
	})
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

// dotted returns 1 for a name that begins with a dot, else 0.
func dotted(name string) int {
	if name[0] == '.' {
		return 1
	}
	return 0
}

// grow unpacks an archive into the new folder dir.
func grow(ctx context.Context, archive Archive, dir string) (err error) {
	packed, err := archive()
	if err != nil {
		return err
	}
	defer packed.Close()
	z, err := zstd.NewReader(packed)
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
