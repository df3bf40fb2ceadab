// Package verify finds the checks of a project, such as its tests, and interprets their
// output. A check that ran none of the project's own tests counts as unknown, not as
// passed.
package verify

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"choiros/internal/choir"
)

// Check is one command that checks a project.
type Check struct {
	Kind    string        // go, rust, node, python or make
	Dir     string        // the project's folder below the root, "." for the root
	Command choir.Command // Cwd is Dir
	Tests   bool          // whether it executes the project's own tests
	Missing string        // why it cannot run on this machine; "" if it can

	given bool // the task gave its command
}

// offlineOnly are the variables that forbid the toolchains to download.
var offlineOnly = []choir.EnvVar{{Name: "GOPROXY", Value: "off"}, {Name: "CARGO_NET_OFFLINE", Value: "true"}, {Name: "npm_config_offline", Value: "true"}}

// Env returns environment variables for checks: they forbid downloads and place caches
// below the folder cache.
func Env(cache string) []choir.EnvVar {
	return append([]choir.EnvVar{
		{Name: "CI", Value: "1"}, {Name: "GOTOOLCHAIN", Value: "local"},
		{Name: "GOCACHE", Value: filepath.Join(cache, "go-build")},
		{Name: "CARGO_TARGET_DIR", Value: filepath.Join(cache, "cargo")},
		{Name: "npm_config_update_notifier", Value: "false"},
		{Name: "npm_config_cache", Value: filepath.Join(cache, "npm")},
		{Name: "PYTHONDONTWRITEBYTECODE", Value: "1"},
	}, offlineOnly...)
}

// LetDownload returns an environment without the variables of Env that forbid downloads, for a
// task that may reach hosts outside.
func LetDownload(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return slices.ContainsFunc(offlineOnly, func(v choir.EnvVar) bool { return kv == v.Name+"="+v.Value })
	})
}

// Machine reports which programs and modules are installed.
type Machine interface {
	// Has reports whether a program is on the path.
	Has(program string) bool
	// HasModule reports whether the interpreter python can import a module.
	HasModule(python, module string) bool
}

// Discover returns the checks for the changed paths (raw, slash-separated, below the
// folder root): those of the nearest project above each that has tests of its kind of
// code, or of the root if there are no paths. In smoke mode only the fastest check that executes tests, for each kind of
// code that changed; in full mode all.
func Discover(root string, changed []string, mode choir.VerifyMode, m Machine) []Check {
	return DiscoverIn(folder(root), changed, mode, m)
}

// DiscoverIn is Discover in a tree of any kind, such as a snapshot.
func DiscoverIn(tree fs.FS, changed []string, mode choir.VerifyMode, m Machine) []Check {
	var checks []Check
	for _, p := range projects(tree, changed, m) {
		found := p.all
		if mode != choir.VerifyFull {
			found = p.fastest(found)
		}
		checks = append(checks, found...)
	}
	return checks
}

// folder is the tree of a folder of this machine. Other than os.DirFS it takes names of
// any bytes, and names above it.
type folder string

func (f folder) Open(name string) (fs.File, error) { return os.Open(filepath.Join(string(f), name)) }

// project is a folder that has a marker file of a known kind of project.
type project struct {
	tree    fs.FS
	dir     string
	changed []string // changed paths, relative to dir
	found   bool     // it is a project of a known kind
	marked  bool     // it has a marker file
	all     []Check  // its checks
}

// at returns the path in the tree of a file in the project's folder.
func (p project) at(name string) string { return path.Join(p.dir, name) }

// has reports whether one of the named files exists in the project's folder.
func (p project) has(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		_, err := fs.Stat(p.tree, p.at(n))
		return err == nil
	})
}

// markers lists the files whose presence makes a folder a project, by kind.
var markers = []struct {
	kind  string
	files []string
}{
	{"go", []string{"go.mod"}},
	{"rust", []string{"Cargo.toml"}},
	{"node", []string{"package.json"}},
	{"python", []string{"pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini"}},
	{"make", []string{"GNUmakefile", "makefile", "Makefile"}},
}

// checks returns all checks of the project, tests first within each kind.
func (p project) checks(m Machine) []Check {
	var all []Check
	if p.isDesktop() {
		c := desktopCheck(m)
		c.Dir, c.Command.Cwd = p.dir, p.dir
		return []Check{c}
	}
	for _, find := range []func(Machine) []Check{p.goChecks, p.rustChecks, p.nodeChecks, p.pythonChecks, p.makeChecks} {
		all = append(all, find(m)...)
	}
	for i := range all {
		all[i].Dir, all[i].Command.Cwd = p.dir, p.dir
	}
	return all
}

// extensions lists, by kind of project, the extensions of its files.
var extensions = map[string][]string{
	"go": {".go", ".mod", ".sum"}, "rust": {".rs", ".toml"}, "python": {".py", ".toml", ".cfg"},
	"node": {".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx", ".json", ".vue", ".svelte"},
}

// fastest selects one check of all for each kind of code that changed, its tests first,
// or for each kind of code in the project if that finds no tests. Make is selected only
// if nothing else has tests.
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

// first returns the first check of a kind; false if there is none.
func first(all []Check, kind string) (Check, bool) {
	i := slices.IndexFunc(all, func(c Check) bool { return c.Kind == kind })
	if i < 0 {
		return Check{}, false
	}
	return all[i], true
}

// touches reports whether a changed path has an extension of this kind of project.
func (p project) touches(kind string) bool {
	return slices.ContainsFunc(p.changed, func(c string) bool {
		return slices.Contains(extensions[kind], path.Ext(c))
	})
}
