package git

import (
	"os"
	"path/filepath"
	"strings"
)

// Limits of a change that is committed without starting git.
const (
	smallPaths = 100
	smallBytes = 8 << 20
)

// smallFiles returns the existing ones of the paths. ok is false if the change needs git:
// too many or large files, links, suspected keys, unusual names, or a locked index.
func smallFiles(dir string, paths []string) (present []string, ok bool) {
	// While the index is locked, git fails before it commits anything.
	if len(paths) > smallPaths || exists(filepath.Join(dir, ".git/index.lock")) {
		return nil, false
	}
	var total int64
	for _, p := range paths {
		info, err := os.Lstat(filepath.Join(dir, p))
		switch {
		case strings.ContainsAny(p, "\n\r\"") || LooksLikeKey(dir, p):
			return nil, false
		case os.IsNotExist(err):
			continue
		case err != nil || !info.Mode().IsRegular():
			return nil, false
		}
		total += info.Size()
		present = append(present, p)
	}
	return present, total <= smallBytes
}

// branchOf returns the ref of the checked-out branch; ok is false if it cannot be read
// without starting git.
func branchOf(dir string) (ref string, ok bool) {
	raw, err := os.ReadFile(filepath.Join(dir, ".git/HEAD"))
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(strings.TrimSpace(string(raw)), "ref: ")
}

// Head returns the commit id of the checked-out branch; ok is false if it cannot be read
// without starting git.
func Head(dir string) (id string, ok bool) {
	ref, ok := branchOf(dir)
	if !ok || !filepath.IsLocal(ref) {
		return "", false
	}
	raw, err := os.ReadFile(filepath.Join(dir, ".git", ref))
	return strings.TrimSpace(string(raw)), err == nil
}
