package workspace

import (
	"errors"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// InGit reports whether a path is a .git folder or lies in one.
func InGit(path string) bool {
	return path == ".git" || strings.HasPrefix(path, ".git/") || strings.Contains(path, "/.git/") || strings.HasSuffix(path, "/.git")
}

// Parent returns the folder that contains path; empty for the workspace itself.
func Parent(path string) string {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)]
}

// Below reports whether path is one of the paths in of or lies below one.
func Below(path string, of []string) bool {
	return slices.ContainsFunc(of, func(p string) bool { return p != "" && (path == p || strings.HasPrefix(path, p+"/")) })
}

// Ignore returns nil for an error with the given code, and any other error unchanged.
func Ignore(err error, code choir.Code) error {
	if choir.CodeOf(err) == code {
		return nil
	}
	return err
}

// joined joins two errors like errors.Join, but returns a single error unchanged so
// that its code and path stay visible.
func joined(first, second error) error {
	if second == nil {
		return first
	}
	return errors.Join(first, second)
}
