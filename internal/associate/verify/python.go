package verify

import (
	"io/fs"
	"path"
	"strings"
)

// pythonTests returns the files whose names both pytest and unittest recognise as tests.
func (p project) pythonTests() []string {
	var found []string
	for _, pattern := range []string{"test_*.py", "*_test.py", "tests/test_*.py", "tests/*_test.py", "tests/*/test_*.py", "test/test_*.py", "src/*/tests/test_*.py"} {
		names, _ := fs.Glob(p.tree, p.at(pattern)) // the patterns are well formed
		found = append(found, names...)
	}
	return found
}

// python returns the interpreter of the project: that of its virtual environment, or of
// one above it, else python3. It is a path from the project's folder or a name.
func (p project) python(m Machine) string {
	up := "."
	for d := p.dir; ; d, up = path.Dir(d), path.Join(up, "..") {
		for _, venv := range []string{".venv", "venv"} {
			name := path.Join(up, venv, "bin/python")
			if !strings.HasPrefix(name, ".") {
				name = "./" + name
			}
			if _, err := fs.Stat(p.tree, path.Join(d, venv, "pyvenv.cfg")); err == nil && m.HasModule(path.Join(d, venv, "bin/python"), "sys") {
				return name
			}
		}
		if d == "." || d == "/" {
			return "python3"
		}
	}
}

func (p project) pythonChecks(m Machine) []Check {
	tests := p.pythonTests()
	if len(tests) == 0 {
		if (p.has(markers[3].files...) || p.has(weakPython...)) && p.contains("pyproject.toml", func(name string) bool { return strings.HasSuffix(name, ".py") }) {
			return []Check{argv("python", false, m, "python3", "-m", "compileall", "-q", ".")}
		}
		return nil
	}
	python := p.python(m)
	check := func(args ...string) Check {
		if python == "python3" {
			return argv("python", true, m, append([]string{python}, args...)...)
		}
		c := argv("python", true, m, append([]string{"python3"}, args...)...)
		c.Missing, c.Command.Argv[0] = "", python
		return c
	}
	if m.HasModule(p.interpreter(python), "pytest") {
		return []Check{check("-m", "pytest", "-q", "-p", "no:cacheprovider", "--continue-on-collection-errors")}
	}
	c := check(append([]string{"-m", "unittest", "discover", "-v"}, p.unittestArgs(tests)...)...)
	if c.Missing == "" && !p.mention(tests, "unittest") {
		c.Missing = "the tests are written for pytest, which is not on this machine; a .venv folder with it, in the project when it is added, would bring it"
	}
	return []Check{c}
}

// interpreter returns the interpreter python of the project as a path from the tree's
// root.
func (p project) interpreter(python string) string {
	if strings.Contains(python, "/") {
		return path.Join(p.dir, python)
	}
	return python
}

// unittestArgs returns the arguments by which unittest finds the given test files: it
// searches only packages, so a plain tests folder is named as the start folder.
func (p project) unittestArgs(tests []string) []string {
	for _, dir := range []string{"tests", "test"} {
		if strings.HasPrefix(tests[len(tests)-1], p.at(dir)+"/") && !p.has(dir+"/__init__.py") {
			return []string{"-s", dir}
		}
	}
	if strings.HasSuffix(tests[0], "_test.py") {
		return []string{"-p", "*_test.py"}
	}
	return nil
}

// hasPackages reports whether Python modules or packages lie in a folder of the project.
func (p project) hasPackages(dir string) bool {
	for _, pattern := range []string{"/*.py", "/*/*.py", "/*/*/*.py"} {
		if names, _ := fs.Glob(p.tree, p.at(dir)+pattern); len(names) > 0 { // well formed, as above
			return true
		}
	}
	return false
}
