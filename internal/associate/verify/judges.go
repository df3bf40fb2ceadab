package verify

import (
	"bytes"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Changed is one file of a change, a link included. A renamed file is two of them.
type Changed struct {
	Path   string  // slash-separated, below the root
	Before *Former // nil if the file is new
	Gone   bool    // the file is no longer there
}

// Former is a file as it was before the change.
type Former struct {
	Mode uint32
	Link string // target of a link; "" for a file
	Read func() ([]byte, error)
}

// before returns the content of the file before the change, nil if it had none.
func (c Changed) before() []byte {
	if c.Before == nil || c.Before.Link != "" {
		return nil
	}
	content, _ := c.Before.Read() // what cannot be read has no tests to compare
	return content
}

// after returns the content of the file below root after the change, nil if it has none.
func (c Changed) after(root string) []byte {
	if c.Gone {
		return nil
	}
	content, _ := os.ReadFile(filepath.Join(root, filepath.FromSlash(c.Path))) // as in before
	return content
}

// role is the part that a file has in judging a change.
type role int

const (
	roleNone   role = iota
	roleTest        // tests and what they read
	roleConfig      // decides which tests run and how
	roleCI          // is run elsewhere only
)

// dependencyDirs are folders of dependencies and caches: what is in them is not the
// project's own.
var dependencyDirs = words("node_modules .venv venv site-packages target __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .cache")

var (
	testName = regexp.MustCompile(`_test\.\w+$|^test_.*\.py$|[._-](test|spec)\.[cm]?[jt]sx?$|_spec\.rb$|\.snap$`)
	testDirs = []string{"test", "tests", "testdata", "__tests__", "__snapshots__", "spec", "specs", "e2e"}

	configNames = regexp.MustCompile(`^(conftest\.py|pytest\.ini|tox\.ini|noxfile\.py|\.coveragerc|sitecustomize\.py|usercustomize\.py|pytest\.py|unittest\.py|` +
		`\.mocharc.*|\.npmrc|\.pnpmfile\.cjs|.*\.pth|(jest|vitest|vite|karma|playwright|cypress|ava)\.(config|conf|workspace)\..*|` +
		`(GNU)?[mM]akefile|.*\.mk|[jJ]ustfile|Taskfile\.ya?ml|build\.rs)$`)
	ciPaths = regexp.MustCompile(`(^|/)(\.github/(workflows|actions)/|\.circleci/|\.buildkite/|\.ci/|\.gitlab-ci\.yml$|\.travis\.yml$|Jenkinsfile$|azure-pipelines\.yml$|bitbucket-pipelines\.yml$|\.pre-commit-config\.yaml$)`)
)

// roleOf returns the part that a changed file has in judging the change. called tells
// files that a check names in its command.
func roleOf(c Changed, root string, called func(file string) bool) role {
	base := path.Base(c.Path)
	dirs := strings.Split(path.Dir(c.Path), "/")
	switch {
	case ciPaths.MatchString(c.Path):
		return roleCI
	case slices.ContainsFunc(dirs, func(d string) bool { return dependencyDirs[d] }), path.Ext(base) == ".pyc":
		return roleNone
	case configNames.MatchString(base), slices.Contains(dirs, "pytest"), slices.Contains(dirs, "unittest"), slices.Contains(dirs, ".cargo"):
		return roleConfig
	case settings[base] != nil:
		if bytes.Equal(settings[base](c.before()), settings[base](c.after(root))) {
			return roleNone
		}
		return roleConfig
	case testName.MatchString(base), slices.ContainsFunc(testDirs, func(d string) bool { return slices.Contains(dirs, d) }):
		return roleTest
	case called(c.Path):
		return roleConfig
	}
	return roleNone
}

// settings return, for files that hold much besides, what of them decides about checks.
var settings = map[string]func(content []byte) []byte{
	"package.json":   packageSettings,
	"pyproject.toml": sections(`pytest|tox|nox|coverage|unittest|hatch\.envs`),
	"setup.cfg":      sections(`pytest|tox|coverage|aliases`),
	"Cargo.toml":     sections(`\[test|\[bench|lib\]|bin\]`),
}

// packageKeys are the entries of a package.json that decide about checks.
var packageKeys = []string{"scripts", "jest", "mocha", "ava", "vitest", "tap", "c8", "nyc"}

func packageSettings(content []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(content, &all) != nil {
		return content
	}
	kept := map[string]json.RawMessage{}
	for _, key := range packageKeys {
		if v, ok := all[key]; ok {
			kept[key] = v
		}
	}
	out, _ := json.Marshal(kept) // raw messages that were decoded can be encoded
	return out
}

// formerPackage returns the package.json now with the entries of before that decide
// about checks: its dependencies are those of the changed code.
func formerPackage(before, now []byte) []byte {
	var old, all map[string]json.RawMessage
	if json.Unmarshal(before, &old) != nil || json.Unmarshal(now, &all) != nil {
		return before
	}
	for _, key := range packageKeys {
		delete(all, key)
		if v, ok := old[key]; ok {
			all[key] = v
		}
	}
	out, _ := json.MarshalIndent(all, "", "  ") // as above
	return out
}

var sectionHead = regexp.MustCompile(`^\s*\[`)

// sections returns a function that returns the sections of a file of settings whose
// headings match the pattern.
func sections(pattern string) func([]byte) []byte {
	want := regexp.MustCompile(pattern)
	return func(content []byte) []byte {
		var out []byte
		in := false
		for line := range bytes.Lines(content) {
			if sectionHead.Match(line) {
				in = want.Match(line)
			}
			if in {
				out = append(out, line...)
			}
		}
		return out
	}
}

// reaching matches words by which a file of tests reaches beyond its own tests: it can
// end the process, choose tests, or change how others run.
var reaching = regexp.MustCompile(`func TestMain\(|func init\(|os\.Exit|sys\.exit|os\._exit|def pytest_|pytestmark|autouse|process\.exit|\.only\(|monkeypatch|sys\.modules`)

// plainAddition reports whether a judging file is a new file of tests that cannot change
// how the tests of before run.
func plainAddition(c Changed, r role, root string) bool {
	return r == roleTest && c.Before == nil && !reaching.Match(c.after(root))
}
