package host

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"choiros/internal/choir"
	"choiros/internal/durablefile"
	"choiros/internal/fault"
	"choiros/internal/sandbox"
)

// MadeUp is the content of /etc inside, by file name. It reveals nothing of the host or
// its users.
var MadeUp = map[string]string{
	"passwd": "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n" +
		"choir:x:1000:1000:choir:/home/choir:/bin/bash\n" +
		"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
	"group":         "root:x:0:\nchoir:x:1000:\nnogroup:x:65534:\n",
	"hosts":         "127.0.0.1 localhost choir\n::1 localhost\n",
	"hostname":      "choir\n",
	"resolv.conf":   "# Choir-init answers, by the egress policy.\nnameserver 127.0.0.1\noptions timeout:10 attempts:1\n",
	"nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\nprotocols: files\n",
	"shells":        "/bin/sh\n/bin/bash\n",
	"host.conf":     "multi on\n",
	"gitconfig":     "",
	"fstab":         "",
}

// FromSystem are patterns below a system's /etc of files that toolchains need and that
// reveal nothing of it. Only files that every user may read are copied.
var FromSystem = []string{
	"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime",
	"services", "protocols", "mime.types", "debian_version", "os-release",
	"ssl/certs", "ssl/openssl.cnf", "pki/tls/certs", "pki/ca-trust/extracted",
	"fonts", "java-*", "perl", "locale.alias", "chromium.d",
}

// mountPoints are the folders of the root folder that are mounted over, or are empty.
var mountPoints = []string{"usr", "proc", "dev", "tmp", "var", "home/choir", "run", "opt/choir"}

// systemFolders are links into /usr on most hosts, and folders on the others.
var SystemFolders = []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"}

// EmptyFile is the path of an empty file in a sandbox's root folder.
const EmptyFile = "etc/fstab"

// PrepareRoots creates the root folders of sandboxes below dir, one for each list of
// additional mount points, and returns their paths in that order. The name of a root folder
// depends on its content, so an existing one is reused, and versions in use by running
// sandboxes stay unchanged. All after the first have the files of its /etc by a second name.
func PrepareRoots(dir string, lists ...[]string) ([]string, error) {
	picked, err := pickFromHost()
	roots := make([]string, len(lists))
	for i := 0; i < len(lists) && err == nil; i++ {
		roots[i], err = prepareRoot(dir, picked, rootKind{points: lists[i], sibling: roots[0]})
	}
	return roots, err
}

// PrepareRootWith creates one root folder as PrepareRoots does, with the programs of a folder
// that CopyReadable made below dir, at sandbox.GuestInside, so that they need no mount; "" is
// without.
func PrepareRootWith(dir string, more []string, programs string) (string, error) {
	picked, err := pickFromHost()
	if err != nil {
		return "", err
	}
	return prepareRoot(dir, picked, rootKind{points: more, programs: programs})
}

// rootKind describes how one root folder differs from others of this machine.
type rootKind struct {
	points   []string // mount points besides those of all
	programs string   // folder of programs to link; "" is none
	sibling  string   // root folder with the same /etc; "" is none
}

func prepareRoot(dir string, picked *etcFiles, kind rootKind) (string, error) {
	target := filepath.Join(dir, "root-"+picked.checksum(kind.points))
	if kind.programs != "" {
		target += "-" + filepath.Base(kind.programs)
	}
	return target, putInPlace(dir, target, func(tmp string) error {
		if err := fillRoot(tmp, picked, kind); err != nil || kind.programs == "" {
			return err
		}
		return linkPrograms(filepath.Join(tmp, sandbox.GuestInside), kind.programs)
	})
}

// linkPrograms gives every file of the folder source a second name in the folder dir.
func linkPrograms(dir, source string) error {
	entries, err := os.ReadDir(source)
	for i := 0; i < len(entries) && err == nil; i++ {
		name := entries[i].Name()
		err = os.Link(filepath.Join(source, name), filepath.Join(dir, name))
	}
	return err
}

// putInPlace makes the folder target below dir with fill, or leaves an existing one. It is
// whole or not there, also after a power cut.
func putInPlace(dir, target string, fill func(tmp string) error) error {
	const op = "host.root"
	if isDir(target) {
		return nil
	}
	tmp, err := os.MkdirTemp(dir, "new-root-")
	if err != nil {
		return choir.Wrap(op, choir.CodeInternal, err, "make a folder for sandboxes")
	}
	defer os.RemoveAll(tmp) // nothing is left of it once it has its name
	if err := fill(tmp); err != nil {
		return choir.Wrap(op, choir.CodeInternal, err, "fill a folder of sandboxes")
	}
	fault.Point("sandbox.root.rename")
	if err := syncTree(tmp); err != nil {
		return choir.Wrap(op, choir.CodeInternal, err, "make a folder of sandboxes durable")
	}
	if err := os.Rename(tmp, target); err != nil && !isDir(target) {
		return choir.Wrap(op, choir.CodeInternal, err, "put a folder of sandboxes in place")
	}
	return nil
}

// syncTree fsyncs every file and folder below dir, so that the tree is whole after a
// power cut.
func syncTree(dir string) error {
	var group errgroup.Group
	group.SetLimit(16)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (d.IsDir() || d.Type().IsRegular()) {
			group.Go(func() error { return syncPath(path) })
		}
		return err
	})
	return errors.Join(err, group.Wait())
}

func syncPath(path string) error {
	fault.Point("sandbox.root.sync")
	return durablefile.Sync(path)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func fillRoot(dir string, picked *etcFiles, kind rootKind) error {
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	points := slices.Concat(mountPoints, kind.points)
	for _, name := range SystemFolders {
		if to, err := os.Readlink("/" + name); err == nil {
			if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
				return err
			}
		} else if isDir("/" + name) {
			points = append(points, name)
		}
	}
	for _, name := range points {
		if err := MakePublic(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if err := os.Symlink("/tmp", filepath.Join(dir, "var/tmp")); err != nil {
		return err
	}
	etc := filepath.Join(dir, "etc")
	if kind.sibling != "" {
		if linkTree(filepath.Join(kind.sibling, "etc"), etc) == nil {
			return nil
		}
		// Some file systems know no second names: then the files are copied again.
		if err := os.RemoveAll(etc); err != nil {
			return err
		}
	}
	return fillEtc(etc, picked.paths)
}

// linkTree makes the folders of source at dir and gives all else there a second name in them.
func linkTree(source, dir string) error {
	return filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, path[len(source):])
		if d.IsDir() {
			return MakePublic(to)
		}
		return os.Link(path, to)
	})
}

// etcFiles are the files of the host's /etc that go into root folders.
type etcFiles struct {
	paths     []string
	described bytes.Buffer // what a root folder depends on besides its mount points
}

// checksum returns the checksum of everything that a root folder with these additional mount
// points depends on.
func (e *etcFiles) checksum(points []string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q\n", mountPoints, points, SystemFolders)
	h.Write(e.described.Bytes())
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// pickFromHost finds the files below /etc to copy, and describes them.
func pickFromHost() (*etcFiles, error) {
	const op = "host.root"
	picked := &etcFiles{}
	for name, text := range Sorted(MadeUp) {
		fmt.Fprintf(&picked.described, "%q %q\n", name, text)
	}
	for _, pattern := range FromSystem {
		roots, err := filepath.Glob(filepath.Join("/etc", pattern))
		for i := 0; i < len(roots) && err == nil; i++ {
			err = filepath.WalkDir(roots[i], picked.add)
		}
		if err != nil {
			return picked, choir.Wrap(op, choir.CodeInternal, err, "look through the host's /etc")
		}
	}
	return picked, nil
}

// add notes a path that every user may read.
func (e *etcFiles) add(path string, d fs.DirEntry, err error) error {
	if err != nil {
		return nil // unreadable for us, so not for everybody
	}
	info, err := d.Info()
	if err != nil || !forEverybody(info) {
		return nil
	}
	e.paths = append(e.paths, path)
	fmt.Fprintf(&e.described, "%q %v %d %d\n", path, info.Mode(), info.Size(), info.ModTime().UnixNano())
	return nil
}

func forEverybody(info fs.FileInfo) bool {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return true
	case info.IsDir():
		return info.Mode()&0o005 == 0o005
	default:
		return info.Mode().IsRegular() && info.Mode()&0o004 != 0
	}
}

func fillEtc(dir string, picked []string) error {
	if err := MakePublic(dir); err != nil {
		return err
	}
	for _, path := range picked {
		if err := copyInto(dir, path); err != nil {
			return err
		}
	}
	for name, text := range MadeUp {
		if err := writePublic(filepath.Join(dir, name), []byte(text)); err != nil {
			return err
		}
	}
	return os.Symlink("/proc/self/mounts", filepath.Join(dir, "mtab"))
}

// copyInto copies one path of the host's /etc to dir; a symbolic link is copied as a
// link.
func copyInto(dir, path string) error {
	rel, err := filepath.Rel("/etc", path)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, rel)
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return MakePublic(to)
	}
	if err := MakePublic(filepath.Dir(to)); err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		link, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return os.Symlink(link, to)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	return writePublic(to, content)
}

// MakePublic creates a folder and its parents with mode 0755, whatever the umask.
func MakePublic(dir string) error {
	if isDir(dir) {
		return nil
	}
	if err := MakePublic(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755)
}

// writePublic writes a file that everybody may read, whatever the umask.
func writePublic(path string, content []byte) error {
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return err
	}
	return os.Chmod(path, 0o644)
}
