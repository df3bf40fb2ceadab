package git

import (
	"io"
	"os"
	"path"
	"path/filepath"

	"choiros/internal/keyfile"
)

// LooksLikeKey reports whether the file at p looks like a secret, by its name or the
// beginning of its content. A checkpoint does not commit such a file unasked.
func LooksLikeKey(workspace, p string) bool {
	return keyfile.Name(path.Base(p)) || keyContent(filepath.Join(workspace, p))
}

// keyContent reports whether a regular file begins like a secret; false if unreadable.
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
