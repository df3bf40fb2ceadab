package workspace

import (
	"errors"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// InGit reports whether a path is a folder .git or lies in one.
func InGit(path string) bool {
	return path == ".git" || strings.HasPrefix(path, ".git/") || strings.Contains(path, "/.git/") || strings.HasSuffix(path, "/.git")
}

// Parent returns the folder that a path lies in; empty for the workspace itself.
func Parent(path string) string {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)]
}

// Below reports whether the path is one of the given or lies below one.
func Below(path string, of []string) bool {
	return slices.ContainsFunc(of, func(p string) bool { return p != "" && (path == p || strings.HasPrefix(path, p+"/")) })
}

// Ignore returns nil for an error with a code, and any other error as it is.
func Ignore(err error, code choir.Code) error {
	if choir.CodeOf(err) == code {
		return nil
	}
	return err
}

// joined joins errors as errors.Join does, but keeps a single error as it is so that
// its code and path stay visible.
func joined(first, second error) error {
	if second == nil {
		return first
	}
	return errors.Join(first, second)
}
