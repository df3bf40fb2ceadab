package machineimage

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/sandbox/host"
)

// node is a file, folder or link of the image.
type node struct {
	mode    fs.FileMode
	link    string
	host    string // where its content is; "" for content
	content []byte
	time    time.Time
}

// tree is the root file system to be, by paths without the first slash.
type tree map[string]node

// left out are folders of /usr that programs do not need.
var leftOut = []string{"usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale", "usr/share/lintian", "usr/share/bug", "usr/share/doc-base", "usr/lib/modules", "usr/lib/firmware", "usr/share/gitweb"}

// fromHost are the files below /etc that programs need.
var fromHost = []string{"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "services", "protocols", "mime.types", "debian_version", "os-release", "ssl/certs", "ssl/openssl.cnf", "perl"}

// newTree returns what the packages have in /usr, a made-up /etc, and the guest binaries.
func newTree(ctx context.Context, names []string, c Config) (tree, error) {
	out, err := output(ctx, c.Environ, "", "dpkg-query", append([]string{"-L"}, names...)...)
	if err != nil {
		return nil, err
	}
	t := tree{"usr": {mode: fs.ModeDir | 0o755}, "etc": {mode: fs.ModeDir | 0o755}}
	newest := time.Unix(0, 0)
	for line := range strings.Lines(string(out)) {
		name := inUsr(strings.TrimPrefix(strings.TrimSpace(line), "/"))
		if !strings.HasPrefix(name, "usr/") || isLeftOut(name) {
			continue
		}
		if err := t.addHost(name); err != nil {
			return nil, err
		}
		if n, ok := t[name]; ok && !n.mode.IsDir() && n.time.After(newest) {
			newest = n.time
		}
	}
	if c.Epoch.IsZero() {
		c.Epoch = newest
	}
	if err := t.addCompiled(); err != nil {
		return nil, err
	}
	if err := t.addEtc(); err != nil {
		return nil, err
	}
	if err := t.addAlternatives(); err != nil {
		return nil, err
	}
	for name, content := range c.Guest {
		t.addContent(path.Join(GuestFolder, name), 0o111, content)
	}
	t.finish(c.Epoch)
	return t, nil
}

// inUsr returns the path below /usr of a file that a package names below a folder that is
// a link into /usr.
func inUsr(name string) string {
	first, _, _ := strings.Cut(name, "/")
	if slices.Contains([]string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"}, first) {
		return "usr/" + name
	}
	return name
}

func isLeftOut(name string) bool {
	return slices.ContainsFunc(leftOut, func(dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") })
}

// addHost adds a path of this machine that everybody may read. It ignores a path without a
// file: a package may name what was diverted, or what the machine's owner removed.
func (t tree) addHost(name string) error {
	host := "/" + name
	info, err := os.Lstat(host)
	if err != nil {
		return nil
	}
	n := node{mode: info.Mode(), time: info.ModTime()}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		if n.link, err = os.Readlink(host); err != nil {
			return choir.Wrap("image.tree", choir.CodeUnavailable, err, "read the link %s", host)
		}
	case info.IsDir():
	case info.Mode().IsRegular() && info.Mode()&0o004 != 0:
		n.host = host
	default:
		return nil
	}
	t[name] = n
	return nil
}

// addCompiled adds what Python compiled of its modules, without which each start would do
// it again.
func (t tree) addCompiled() error {
	for name := range maps.Clone(t) {
		dir, file := path.Split(name)
		stem, isModule := strings.CutSuffix(file, ".py")
		if !isModule {
			continue
		}
		found, err := filepath.Glob("/" + dir + "__pycache__/" + stem + ".cpython-*.pyc")
		if err != nil {
			continue // no folder of such a name
		}
		for _, f := range found {
			if strings.Contains(strings.TrimSuffix(path.Base(f), ".pyc"), ".opt-") {
				continue
			}
			if err := t.addHost(strings.TrimPrefix(f, "/")); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t tree) addContent(name string, mode fs.FileMode, content []byte) {
	t[name] = node{mode: mode, content: content, time: time.Unix(0, 0)}
}

// addEtc adds the made-up /etc and what is copied to it.
func (t tree) addEtc() error {
	for _, pattern := range fromHost {
		err := filepath.WalkDir("/etc/"+pattern, func(at string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil // unreadable, so not for everybody; folders come with their files
			}
			return t.addHost(strings.TrimPrefix(at, "/"))
		})
		if err != nil {
			return err
		}
	}
	for name, text := range host.MadeUp {
		t.addContent("etc/"+name, 0o644, []byte(text))
	}
	t["etc/mtab"] = node{mode: fs.ModeSymlink | 0o777, link: "/proc/self/mounts", time: time.Unix(0, 0)}
	return nil
}

// addAlternatives adds the links from /usr over /etc/alternatives to programs that the
// image has.
func (t tree) addAlternatives() error {
	for _, dir := range []string{"usr/bin", "usr/sbin"} {
		entries, err := os.ReadDir("/" + dir)
		if err != nil {
			return choir.Wrap("image.tree", choir.CodeUnavailable, err, "read /%s", dir)
		}
		for _, e := range entries {
			first, err := os.Readlink("/" + dir + "/" + e.Name())
			if err != nil || path.Dir(first) != "/etc/alternatives" {
				continue
			}
			second, err := os.Readlink(first)
			if err != nil {
				continue
			}
			if _, ok := t[inUsr(strings.TrimPrefix(second, "/"))]; !ok {
				continue
			}
			for _, name := range []string{dir + "/" + e.Name(), strings.TrimPrefix(first, "/")} {
				if err := t.addHost(name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// finish adds the folders above everything, takes rights away that nobody inside has, and
// holds times to the epoch.
func (t tree) finish(epoch time.Time) {
	for name := range maps.Clone(t) {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if n, ok := t[dir]; !ok || n.mode&fs.ModeSymlink != 0 && !ok {
				t[dir] = node{mode: fs.ModeDir | 0o755}
			}
		}
	}
	for name, n := range t {
		n.mode &^= fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky | 0o022
		if n.mode.IsDir() || n.time.After(epoch) {
			n.time = epoch
		}
		n.time = n.time.Truncate(time.Second)
		t[name] = n
	}
}
