package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// files are the contents of a small project by path; a name that ends in ! is
// executable.
type files map[string]string

// write makes the files in a new folder and returns it.
func (f files) write(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	f.writeTo(t, dir)
	return dir
}

// writeTo writes the files into a folder.
func (f files) writeTo(t *testing.T, dir string) {
	t.Helper()
	for path, content := range f {
		mode := os.FileMode(0o644)
		if path[len(path)-1] == '!' {
			path, mode = path[:len(path)-1], 0o755
		}
		full := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
}

// quoteJSON is a string as JSON.
func quoteJSON(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err) // no string does
	}
	return string(raw)
}

// repo makes the files a repository with one commit.
func (f files) repo(t *testing.T, name string) string {
	t.Helper()
	dir := f.write(t, name)
	gitIn(t, dir, "init", "-q", "-b", "main")
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "-c", "user.name=Test", "-c", "user.email=test@localhost", "commit", "-q", "-m", "begin")
	return dir
}

// exact lists everything that counts of a tree, path by path, read on the host
// and by none of our own code: kind, mode, time, content, link target.
func exact(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		line := fmt.Sprintf("%o %d", st.Mode, st.Mtim.Nano())
		switch {
		case info.Mode().IsRegular():
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(raw)
			line += " " + hex.EncodeToString(sum[:])
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += " -> " + target
		}
		rel, err := filepath.Rel(dir, path)
		out[rel] = line
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sameTree fails the test for each path in which two trees differ.
func sameTree(t *testing.T, was, is map[string]string) {
	t.Helper()
	for path, line := range was {
		if is[path] != line {
			t.Errorf("%q was %s, is %s", path, line, is[path])
		}
	}
	for path := range is {
		if _, ok := was[path]; !ok {
			t.Errorf("%q was not there", path)
		}
	}
}

// workspace is the Associate's workspace as the host sees it.
func (m *machine) workspace() string {
	m.t.Helper()
	found, err := filepath.Glob(filepath.Join(m.data, "computers/*/associate/workspace"))
	if err != nil || len(found) != 1 {
		m.t.Fatalf("workspaces: %v, %v", found, err)
	}
	return found[0]
}

// project is where a project lies on the host.
func (m *machine) at(repo string) string { return filepath.Join(m.workspace(), "workspace", repo) }

// gitAt runs git in a project of the computer: as its host user, so that git
// neither refuses the folder nor leaves files of root's in it.
func (m *machine) gitAt(repo string, args ...string) string {
	m.t.Helper()
	return gitIn(m.t, m.at(repo), append([]string{"-c", "safe.directory=*", "--no-optional-locks"}, args...)...)
}
