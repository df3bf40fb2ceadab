package git

import (
	"io"
	"os"
	"path"
	"path/filepath"

	"choiros/internal/keyfile"
)

// LooksLikeKey reports whether a file looks like a secret that must not enter a
// commit by itself: by its name, or by how its content begins.
func LooksLikeKey(workspace, p string) bool {
	return keyfile.Name(path.Base(p)) || keyContent(filepath.Join(workspace, p))
}

// keyContent looks at how a regular file begins.
func keyContent(file string) bool {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, keyfile.Head)) // what could be read is looked at
	return keyfile.Content(head)
}
