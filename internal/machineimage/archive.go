package machineimage

import (
	"fmt"
	"io"
	"path"
)

// Archive writes an initial file system of Linux: a cpio archive in the format newc, see
// the kernel's Documentation/driver-api/early-userspace/buffer-format.rst. Everything in
// it is root's and has no time. Several archives, one after another, are one.
type Archive struct {
	w    io.Writer
	n    int
	made map[string]bool
	err  error
}

// NewArchive returns an archive without files.
func NewArchive(w io.Writer) *Archive { return &Archive{w: w, made: map[string]bool{".": true}} }

const (
	modeFolder = 0o040755
	modeFile   = 0o100000
)

// Add adds a file, and the folders above it.
func (a *Archive) Add(name string, mode uint32, content []byte) {
	a.Folder(path.Dir(name))
	a.entry(name, modeFile|mode, content)
}

// Folder adds a folder, and those above it, unless they are there.
func (a *Archive) Folder(name string) {
	if a.made[name] {
		return
	}
	a.Folder(path.Dir(name))
	a.made[name] = true
	a.entry(name, modeFolder, nil)
}

// Close ends the archive and returns the first error.
func (a *Archive) Close() error {
	a.entry("TRAILER!!!", 0, nil)
	return a.err
}

// entry writes a header, the name and the content, each padded to four bytes.
func (a *Archive) entry(name string, mode uint32, content []byte) {
	a.n++
	header := fmt.Sprintf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		a.n, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name)+1, 0, name)
	a.write([]byte(header))
	a.write(make([]byte, -len(header)&3))
	a.write(content)
	a.write(make([]byte, -len(content)&3))
}

func (a *Archive) write(b []byte) {
	if a.err == nil {
		_, a.err = a.w.Write(b)
	}
}
