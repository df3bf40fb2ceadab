package verify

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"choiros/internal/choir"
)

// argv returns a check that runs the command args, marked as missing if its program is not installed.
func argv(kind string, tests bool, m Machine, args ...string) Check {
	c := Check{Kind: kind, Tests: tests, Command: choir.Command{Argv: args}}
	if !m.Has(args[0]) {
		c.Missing = args[0] + " is not on this machine"
	}
	return c
}

func (p project) goChecks(m Machine) []Check {
	if !p.has("go.mod") {
		return nil
	}
	vet := argv("go", false, m, "go", "vet", "./...")
	if !p.contains("go.mod", func(name string) bool { return strings.HasSuffix(name, "_test.go") }) {
		return []Check{vet}
	}
	return []Check{argv("go", true, m, "go", "test", "./..."), vet}
}

func (p project) rustChecks(m Machine) []Check {
	if !p.has("Cargo.toml") {
		return nil
	}
	return []Check{argv("rust", true, m, "cargo", "test", "--offline")}
}

// noTest is part of the test script that npm init writes.
const noTest = "no test specified"

func (p project) nodeChecks(m Machine) []Check {
	raw, err := fs.ReadFile(p.tree, p.at("package.json"))
	if err != nil {
		return nil
	}
	var pkg struct {
		Scripts map[string]string `json:"scripts"`
		Needs   map[string]string `json:"dependencies"`
		Tools   map[string]string `json:"devDependencies"`
	}
	if json.Unmarshal(raw, &pkg) != nil {
		// npm says better than we could what is wrong with it.
		return []Check{argv("node", true, m, "npm", "test")}
	}
	runner := "npm"
	if p.has("pnpm-lock.yaml") && m.Has("pnpm") {
		runner = "pnpm"
	}
	var found []Check
	switch script := pkg.Scripts["test"]; {
	case script != "" && !strings.Contains(script, noTest):
		found = append(found, argv("node", true, m, runner, "test"))
	case p.contains("package.json", isNodeTest):
		found = append(found, argv("node", true, m, "node", "--test"))
	}
	for _, name := range []string{"typecheck", "lint", "build"} {
		if pkg.Scripts[name] != "" {
			found = append(found, argv("node", false, m, runner, "run", name))
		}
	}
	if len(pkg.Needs)+len(pkg.Tools) > 0 && !p.hasAbove("node_modules") {
		for i := range found {
			found[i].Missing = "the dependencies in package.json are not installed, and there is no network; " + help["node"]
		}
	}
	return found
}

func isNodeTest(name string) bool {
	return strings.HasSuffix(name, ".test.js") || strings.HasSuffix(name, ".test.mjs") || strings.HasSuffix(name, ".test.cjs")
}

// mention reports whether one of the files contains a word.
func (p project) mention(files []string, word string) bool {
	for _, f := range files {
		if b, err := fs.ReadFile(p.tree, f); err == nil && bytes.Contains(b, []byte(word)) {
			return true
		}
	}
	return false
}

// target matches rules named test or check in a makefile.
var target = regexp.MustCompile(`(?m)^(test|check)[ \t]*:([^=]|$)`)

func (p project) makeChecks(m Machine) []Check {
	var found []Check
	for _, name := range markers[4].files {
		raw, err := fs.ReadFile(p.tree, p.at(name))
		if err != nil {
			continue
		}
		names := map[string]bool{}
		for _, match := range target.FindAllSubmatch(raw, -1) {
			names[string(match[1])] = true
		}
		for _, t := range []string{"test", "check"} {
			if names[t] {
				found = append(found, argv("make", true, m, "make", t))
			}
		}
		return found // make reads the first of them
	}
	return nil
}

// maxLook limits how many files contains visits.
const maxLook = 50_000

// contains reports whether want returns true for the name of a file of the project. It
// skips dependencies, hidden folders and nested projects, which have a file marker.
func (p project) contains(marker string, want func(name string) bool) bool {
	found, left := false, maxLook
	top := p.at(".")
	// Errors are folders that cannot be read: no tests of ours are in there.
	_ = fs.WalkDir(p.tree, top, func(file string, d fs.DirEntry, err error) error {
		left--
		switch {
		case err != nil:
			return fs.SkipDir
		case left < 0 || found:
			return fs.SkipAll
		case d.IsDir():
			return p.skipFolder(file, top, marker)
		}
		found = want(path.Base(file))
		return nil
	})
	return found
}

// skipFolder returns fs.SkipDir if dir does not belong to the project at top, else nil.
func (p project) skipFolder(dir, top, marker string) error {
	base := path.Base(dir)
	if dir == top {
		return nil
	}
	if strings.HasPrefix(base, ".") || base == "node_modules" || base == "vendor" || base == "target" {
		return fs.SkipDir
	}
	if _, err := fs.Stat(p.tree, path.Join(dir, marker)); err == nil {
		return fs.SkipDir
	}
	return nil
}
