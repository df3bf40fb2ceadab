package verify

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

// weakPython are files that Python projects have in many of their folders.
var weakPython = []string{"requirements.txt", "conftest.py"}

// hasMarker reports whether the folder has a file that makes it a project.
func (p project) hasMarker() bool {
	for _, m := range markers {
		if p.has(m.files...) {
			return true
		}
	}
	return false
}

// isWeak reports whether the folder looks like a part of a Python project, or like all
// of one.
func (p project) isWeak() bool { return p.has(weakPython...) || len(p.pythonTests()) > 0 }

// projects returns the projects that the changed paths lie in, sorted by folder.
func projects(tree fs.FS, changed []string, m Machine) []project {
	if len(changed) == 0 {
		changed = []string{"."}
	}
	known := map[string]*project{} // by folder, those chosen and others
	byDir := map[string]*project{}
	for _, c := range changed {
		p := nearest(known, tree, c, m)
		if p == nil {
			continue
		}
		byDir[p.dir] = p
		rel := c
		if p.dir != "." {
			rel = strings.TrimPrefix(c, p.dir+"/")
		}
		p.changed = append(p.changed, rel)
	}
	out := make([]project, 0, len(byDir))
	for _, p := range byDir {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b project) int { return strings.Compare(a.dir, b.dir) })
	return out
}

// nearest returns the project whose checks are about a changed file: the nearest above it
// with tests of its kind of code, else the nearest with tests, else the nearest.
func nearest(known map[string]*project, tree fs.FS, file string, m Machine) *project {
	var above []*project
	for d := ownDir(file); ; d = path.Dir(d) {
		p := known[d]
		if p == nil {
			p = &project{tree: tree, dir: d}
			if p.marked = p.hasMarker(); p.marked || p.isWeak() {
				p.found, p.all = true, p.checks(m)
			}
			known[d] = p
		}
		if p.found {
			above = append(above, p)
		}
		if d == "." || d == "/" {
			break
		}
	}
	above = withoutParts(above)
	kind := kindOf(file)
	for _, suits := range []func(*project) bool{
		func(p *project) bool { return p.hasTests(kind) || p.closes(kind) },
		func(p *project) bool { return p.hasTests("") },
		func(*project) bool { return true },
	} {
		if i := slices.IndexFunc(above, suits); i >= 0 {
			return above[i]
		}
	}
	return nil
}

// ownDir returns the folder of a file, or the one with the dependencies that it lies in.
func ownDir(file string) string {
	dirs := strings.Split(path.Dir(file), "/")
	if i := slices.IndexFunc(dirs, func(d string) bool { return dependencyDirs[d] }); i >= 0 {
		dirs = append([]string{"."}, dirs[:i]...)
	}
	return path.Join(dirs...)
}

// withoutParts removes folders that only look like Python projects because they are parts
// of one further out, such as a folder of tests. above is sorted, the innermost first.
func withoutParts(above []*project) []*project {
	var kept []*project
	for i, p := range above {
		part := !p.marked && slices.ContainsFunc(above[i+1:], func(q *project) bool { return q.has(markers[3].files...) || q.isWeak() })
		if !part {
			kept = append(kept, p)
		}
	}
	return kept
}

// kindOf returns the kind of project that a file belongs to by its extension; "" if it
// may be any.
func kindOf(file string) string {
	for _, kind := range []string{"go", "rust", "node", "python"} {
		if ext := path.Ext(file); slices.Contains(extensions[kind], ext) && ext != ".toml" && ext != ".json" {
			return kind
		}
	}
	return ""
}

// hasTests reports whether the project has a check of a kind, or of any for "", that
// executes tests.
func (p *project) hasTests(kind string) bool {
	return slices.ContainsFunc(p.all, func(c Check) bool { return c.Tests && (kind == "" || c.Kind == kind) })
}

// closes reports whether files of a kind in the project belong to no project further out.
func (p *project) closes(kind string) bool {
	return kind == "go" && p.has("go.mod") || kind == "rust" && p.has("Cargo.toml")
}

// hasAbove reports whether the project's folder or one above it has an entry.
func (p project) hasAbove(name string) bool {
	for d := p.dir; ; d = path.Dir(d) {
		if _, err := fs.Stat(p.tree, path.Join(d, name)); err == nil {
			return true
		}
		if d == "." || d == "/" {
			return false
		}
	}
}
