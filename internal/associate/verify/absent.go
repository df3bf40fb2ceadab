package verify

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	pythonAbsent = regexp.MustCompile(`(?m)ModuleNotFoundError: No module named '?([\w.-]+)'?`)
	nodeAbsent   = regexp.MustCompile(`(?:Cannot find (?:package|module)|Failed to resolve import|Could not resolve) ['"]([^'"./][^'"]*)['"]`)
	goAbsent     = regexp.MustCompile(`(?m)(?:no required module provides package|cannot find module providing package|missing go\.sum entry for module providing package) ([\w./~-]+)`)
	rustAbsent   = regexp.MustCompile("no matching package named `([^`]+)` found|failed to (?:get|load source for dependency) `([^`]+)`")
)

// help says, by kind of project, what would bring an absent dependency.
var help = map[string]string{
	"go":     "a vendor folder (go mod vendor) in the project would bring it",
	"rust":   "a vendor folder (cargo vendor) in the project would bring it",
	"node":   "a node_modules folder that has it, in the project when it is added, would bring it",
	"python": "a .venv folder that has it, in the project when it is added, would bring it",
}

// absentDependency returns the sentence about a dependency that a failed check needed and
// that is not here; "" if the check failed for another reason. A module that the project
// has, or had before the change, is no dependency.
func (t *trial) absentDependency(c Check, r Ran) string {
	if c.ofDesktop() {
		return "" // a desktop without a package that it needs is broken
	}
	found, kind := t.missing(c, string(r.Output))
	if len(found) == 0 || testFailed.Match(r.Output) {
		return ""
	}
	if r.Report.Known && r.Report.Total.Failed > len(found) {
		return "" // a test failed for another reason
	}
	return found[0] + " is not installed here, and there is no network; " + help[kind]
}

// missing returns the modules, not the project's own, that an output says are missing,
// once for each time it says so, and the kind of their project.
func (t *trial) missing(c Check, out string) (found []string, kind string) {
	for kind, re := range map[string]*regexp.Regexp{"python": pythonAbsent, "node": nodeAbsent, "go": goAbsent, "rust": rustAbsent} {
		if c.Kind != kind && c.Kind != "make" && c.Kind != "given" {
			continue
		}
		var names []string
		for _, m := range re.FindAllStringSubmatch(out, -1) {
			name := m[1]
			if name == "" {
				name = m[len(m)-1]
			}
			if !t.owns(c, kind, name) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			return names, kind
		}
	}
	return nil, ""
}

// owns reports whether a module belongs to the project of a check, or did before the
// change.
func (t *trial) owns(c Check, kind, module string) bool {
	switch kind {
	case "python":
		return t.ownsPython(c, strings.Split(module, ".")[0])
	case "go":
		first, _, _ := strings.Cut(module, "/")
		return !strings.Contains(first, ".") || t.inModule(c, module)
	}
	return false
}

func (t *trial) ownsPython(c Check, top string) bool {
	top = strings.ReplaceAll(top, "-", "_")
	for _, dir := range []string{".", "src", "lib", "tests", "test"} {
		at := path.Join(c.Dir, dir, top)
		for _, file := range []string{at + ".py", at} {
			if _, err := fs.Stat(t.tree, file); err == nil {
				return true
			}
		}
		if slices.ContainsFunc(t.Changed, func(ch Changed) bool { return ch.Path == at+".py" || strings.HasPrefix(ch.Path, at+"/") }) {
			return true
		}
	}
	return false
}

// inModule reports whether a Go package belongs to the module of the check's project.
func (t *trial) inModule(c Check, pkg string) bool {
	raw, err := fs.ReadFile(t.tree, path.Join(c.Dir, "go.mod"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(raw)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
			name = strings.Trim(name, `" `)
			return pkg == name || strings.HasPrefix(pkg, name+"/")
		}
	}
	return false
}
