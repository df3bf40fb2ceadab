package verify

import (
	"path"
	"regexp"
	"strings"

	"choiros/internal/choir"
)

// nature ranks commands by how much they can prove.
type nature int

const (
	idle     nature = iota // ends well whatever the project is
	compiles               // compiles, lints or types, and executes no test
	other                  // does something that we do not know
	runs                   // executes tests
)

var separators = regexp.MustCompile(`\s*(?:&&|\|\||[;|&\n])\s*`)

// natureOf returns the strongest nature of the parts of a command. script returns the
// command line of a script of package.json or of a make target, "" if unknown.
func natureOf(c choir.Command, script func(tool, name string) string) nature {
	if len(c.Argv) > 0 {
		return partNature(c.Argv, script, 3)
	}
	return lineNature(c.Shell, script, 3)
}

func lineNature(line string, script func(tool, name string) string, depth int) nature {
	best := idle
	for _, part := range separators.Split(line, -1) {
		words := strings.Fields(strings.NewReplacer(`"`, "", `'`, "", "(", " ", ")", " ").Replace(part))
		best = max(best, partNature(words, script, depth))
	}
	return best
}

var (
	idleWords = words("true : echo printf exit cd pwd sleep export set ls date env wait time")
	testWords = words("pytest py.test tox nox nose2 ctest rspec vitest jest mocha ava tap phpunit")
	lintWords = words("gofmt goimports staticcheck golangci-lint tsc eslint biome prettier mypy pyright ruff flake8 pyflakes pylint black isort rustfmt javac shellcheck")
	wrappers  = words("time timeout nice env exec npx command xvfb-run stdbuf uv poetry pipenv run exec -- -q")
	assigns   = regexp.MustCompile(`^\w+=`)
	isNumber  = regexp.MustCompile(`^\d+[smh]?$`)
	testNames = regexp.MustCompile(`^(t|test|tests|tst|check|ci|verify|unit|e2e|spec)([:_-].*)?$|[:_-]tests?$`)
	lintNames = regexp.MustCompile(`^(build|compile|lint|typecheck|type-check|types|tsc|vet|fmt|format|all|check-types)([:_-].*)?$`)
)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// partNature returns the nature of one simple command.
func partNature(w []string, script func(tool, name string) string, depth int) nature {
	for len(w) > 1 && (assigns.MatchString(w[0]) || wrappers[w[0]] || isNumber.MatchString(w[0])) {
		w = w[1:]
	}
	if len(w) == 0 {
		return idle
	}
	program, sub := path.Base(w[0]), ""
	if len(w) > 1 {
		sub = w[1]
	}
	switch {
	case idleWords[program]:
		return idle
	case testWords[program]:
		return runs
	case lintWords[program]:
		return compiles
	case program == "go", program == "cargo", program == "bun" && sub == "test", program == "deno" && sub == "test":
		return toolNature(sub)
	case strings.HasPrefix(program, "python"):
		return pythonNature(w)
	case program == "node":
		return nodeNature(w)
	case program == "npm" || program == "pnpm" || program == "yarn" || program == "make" || program == "just":
		return scriptNature(program, w[1:], script, depth)
	}
	return other
}

// toolNature returns the nature of a sub-command of go or cargo.
func toolNature(sub string) nature {
	switch sub {
	case "test", "nextest":
		return runs
	case "vet", "build", "list", "fmt", "mod", "check", "clippy", "doc", "version", "env":
		return compiles
	}
	return other
}

func pythonNature(w []string) nature {
	for i, a := range w {
		if a != "-m" || i+1 == len(w) {
			continue
		}
		switch {
		case testWords[w[i+1]] || w[i+1] == "unittest":
			return runs
		case lintWords[w[i+1]] || w[i+1] == "compileall" || w[i+1] == "py_compile":
			return compiles
		}
	}
	return other
}

func nodeNature(w []string) nature {
	for _, a := range w[1:] {
		switch a {
		case "--test":
			return runs
		case "--check", "-c":
			return compiles
		}
	}
	return other
}

// scriptNature returns the nature of what npm, make and the like run: by their script
// where it can be read, else by its name.
func scriptNature(tool string, args []string, script func(tool, name string) string, depth int) nature {
	name := ""
	for _, a := range args {
		if !strings.HasPrefix(a, "-") && a != "run" && a != "run-script" && !assigns.MatchString(a) {
			name = a
			break
		}
	}
	if name == "t" || name == "tst" {
		name = "test"
	}
	if line := script(tool, name); line != "" && depth > 0 {
		return lineNature(line, script, depth-1)
	}
	switch {
	case testNames.MatchString(name):
		return runs
	case lintNames.MatchString(name):
		return compiles
	}
	return other
}
