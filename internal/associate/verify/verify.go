// Package verify finds out how a project checks itself, and reads what the
// checks say. A check that ran no test of the project's own proves nothing and
// counts as unknown: compiling is not working.
package verify

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"choiros/internal/choir"
)

// Check is one command that checks a project.
type Check struct {
	Kind    string        // go, rust, node, python or make
	Dir     string        // the project's folder below the root, "." for the root
	Command choir.Command // Cwd is Dir
	Tests   bool          // it executes the project's own tests
	Missing string        // why it cannot be run here, or empty
}

// Env is the environment checks run in besides the commands' own: nothing is
// fetched, and caches stay out of the workspace. cache is a folder for them.
func Env(cache string) []choir.EnvVar {
	return []choir.EnvVar{
		{Name: "CI", Value: "1"}, {Name: "GOPROXY", Value: "off"}, {Name: "GOTOOLCHAIN", Value: "local"},
		{Name: "GOCACHE", Value: filepath.Join(cache, "go-build")},
		{Name: "CARGO_NET_OFFLINE", Value: "true"}, {Name: "CARGO_TARGET_DIR", Value: filepath.Join(cache, "cargo")},
		{Name: "npm_config_offline", Value: "true"}, {Name: "npm_config_update_notifier", Value: "false"},
		{Name: "npm_config_cache", Value: filepath.Join(cache, "npm")},
		{Name: "PYTHONDONTWRITEBYTECODE", Value: "1"},
	}
}

// Machine is what discovery asks about the machine.
type Machine interface {
	// Has reports whether a program is on the path.
	Has(program string) bool
	// HasPython reports whether python3 can import a module.
	HasPython(module string) bool
}

// Discover finds the checks for changed paths (raw, slash-separated, below
// root). Each path belongs to the nearest folder above it that is a project;
// without changes the root is looked at. Smoke takes the fastest check that
// executes tests of each kind of code that changed, full takes every check.
func Discover(root string, changed []string, mode choir.VerifyMode, m Machine) []Check {
	var checks []Check
	for _, p := range projects(root, changed) {
		found := p.checks(m)
		if mode != choir.VerifyFull {
			found = p.fastest(found)
		}
		checks = append(checks, found...)
	}
	return checks
}

// project is a folder with at least one marker of a known kind of project.
type project struct {
	root, dir string
	changed   []string // below dir
}

func (p project) at(name string) string { return filepath.Join(p.root, p.dir, name) }

func (p project) has(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		_, err := os.Stat(p.at(n))
		return err == nil
	})
}

// markers of projects, with the kind they make.
var markers = []struct {
	kind  string
	files []string
}{
	{"go", []string{"go.mod"}},
	{"rust", []string{"Cargo.toml"}},
	{"node", []string{"package.json"}},
	{"python", []string{"pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "requirements.txt", "conftest.py"}},
	{"make", []string{"GNUmakefile", "makefile", "Makefile"}},
}

func (p project) isOne() bool {
	return slices.ContainsFunc(markers, func(m struct {
		kind  string
		files []string
	}) bool {
		return p.has(m.files...)
	}) || len(p.pythonTests()) > 0
}

// projects groups the changed paths by project, in the order of their folders.
func projects(root string, changed []string) []project {
	if len(changed) == 0 {
		changed = []string{"."}
	}
	byDir := map[string]*project{}
	for _, c := range changed {
		for d := path.Dir(c); ; d = path.Dir(d) {
			p := project{root: root, dir: d}
			if byDir[d] == nil && p.isOne() {
				byDir[d] = &p
			}
			if byDir[d] != nil {
				rel := c
				if d != "." {
					rel = strings.TrimPrefix(c, d+"/")
				}
				byDir[d].changed = append(byDir[d].changed, rel)
				break
			}
			if d == "." || d == "/" {
				break
			}
		}
	}
	out := make([]project, 0, len(byDir))
	for _, p := range byDir {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b project) int { return strings.Compare(a.dir, b.dir) })
	return out
}

// checks are all that the project has, tests first within each kind.
func (p project) checks(m Machine) []Check {
	var all []Check
	for _, find := range []func(Machine) []Check{p.goChecks, p.rustChecks, p.nodeChecks, p.pythonChecks, p.makeChecks} {
		all = append(all, find(m)...)
	}
	for i := range all {
		all[i].Dir, all[i].Command.Cwd = p.dir, p.dir
	}
	return all
}

// extensions of the files that belong to a kind of project.
var extensions = map[string][]string{
	"go": {".go", ".mod", ".sum"}, "rust": {".rs", ".toml"}, "python": {".py", ".toml", ".cfg"},
	"node": {".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx", ".json", ".vue", ".svelte"},
}

// fastest takes one check for each kind of code that changed: its tests, else
// whatever else it has. Make counts only where nothing else has tests.
func (p project) fastest(all []Check) []Check {
	tests := func(c Check) bool { return c.Tests }
	var picked []Check
	for _, touched := range []bool{true, false} {
		if slices.ContainsFunc(picked, tests) {
			return picked
		}
		picked = nil
		for _, kind := range []string{"go", "rust", "node", "python"} {
			if c, ok := first(all, kind); ok && (!touched || p.touches(kind)) {
				picked = append(picked, c)
			}
		}
	}
	if c, ok := first(all, "make"); ok && !slices.ContainsFunc(picked, tests) {
		picked = append(picked, c)
	}
	return picked
}

func first(all []Check, kind string) (Check, bool) {
	i := slices.IndexFunc(all, func(c Check) bool { return c.Kind == kind })
	if i < 0 {
		return Check{}, false
	}
	return all[i], true
}

func (p project) touches(kind string) bool {
	return slices.ContainsFunc(p.changed, func(c string) bool {
		return slices.Contains(extensions[kind], path.Ext(c))
	})
}
