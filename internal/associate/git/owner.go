package git

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Inside reports whether a path lies in a .git folder (or is one).
func Inside(p string) bool {
	return slices.Contains(strings.Split(p, "/"), ".git")
}

// owners divides paths (raw, below the workspace) by the repository that they
// belong to: the nearest folder above with a .git. Its key is the folder below
// the workspace, "." for the workspace itself. What lies in .git is left out.
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

// name of a repository in a result: the project under workspace/, empty for the
// workspace's own.
func name(repo string) string {
	if repo == "." {
		return ""
	}
	return strings.TrimPrefix(repo, "workspace/")
}

// sorted keys of a map, so that the same change always gives the same order.
func sorted(groups map[string][]string) []string {
	keys := make([]string, 0, len(groups))
	for k := range groups {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
