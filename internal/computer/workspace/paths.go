package workspace

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// InGit reports whether a path is a .git folder or lies in one.
func InGit(path string) bool {
	return path == ".git" || strings.HasPrefix(path, ".git/") || strings.Contains(path, "/.git/") || strings.HasSuffix(path, "/.git")
}

// keptByGit matches the paths in a repository's folder at which git keeps its objects, branches
// and lists. At others are hooks, settings and attributes, by which git runs programs.
var keptByGit = regexp.MustCompile(`^(?:[A-Z_]*HEAD|COMMIT_EDITMSG|index|packed-refs|shallow|description` +
	`|(?:refs|logs)/.*` +
	`|objects/(?:[0-9a-f]{2}/[0-9a-f]+|pack/(?:pack-[0-9a-f]+\.[a-z]+|multi-pack-index)|info/(?:packs|commit-graph))` +
	`|hooks/[a-z-]+\.sample)$`)

// IsKeptByGit reports whether a path is one in a .git folder at which git keeps its objects,
// branches and lists.
func IsKeptByGit(path string) bool {
	_, inside, found := strings.Cut("/"+path, "/.git/")
	return found && keptByGit.MatchString(inside)
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
