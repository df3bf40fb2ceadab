package git

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Inside reports whether a path is a .git folder or lies in one.
func Inside(p string) bool {
	return slices.Contains(strings.Split(p, "/"), ".git")
}

// owners groups paths (raw, relative to the workspace) by repository: the nearest folder
// above with a .git. Keys are folders relative to the workspace, "." for the workspace;
// the grouped paths are relative to their repository. Paths in .git are left out.
func owners(workspace string, paths []string) map[string][]string {
	groups := map[string][]string{}
	known := map[string]string{}
	for _, p := range paths {
		if p == "" || Inside(p) {
			continue
		}
		repo := ownerOf(workspace, path.Dir(p), known)
		rel := p
		if repo != "." {
			rel = strings.TrimPrefix(p, repo+"/")
		}
		groups[repo] = append(groups[repo], rel)
	}
	for _, g := range groups {
		slices.Sort(g)
	}
	return groups
}

// ownerOf returns the folder of the repository that the folder dir belongs to, "." for the
// workspace's. known caches the results.
func ownerOf(workspace, dir string, known map[string]string) string {
	if dir == "." {
		return "."
	}
	if repo, ok := known[dir]; ok {
		return repo
	}
	repo := dir
	if !isRepo(filepath.Join(workspace, dir)) {
		repo = ownerOf(workspace, path.Dir(dir), known)
	}
	known[dir] = repo
	return repo
}

// name returns a repository's name for results: the project under workspace/, "" for the
// workspace's own.
func name(repo string) string {
	if repo == "." {
		return ""
	}
	return strings.TrimPrefix(repo, "workspace/")
}

// sorted returns the keys of a map in order.
func sorted(groups map[string][]string) []string {
	keys := make([]string, 0, len(groups))
	for k := range groups {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
