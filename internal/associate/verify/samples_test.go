package verify_test

import "choiros/internal/choir"

const (
	pass    = choir.VerifyPass
	unknown = choir.VerifyUnknown
)

// The projects: each adds numbers, and has two tests, of which a subtraction breaks one.
var (
	goBase = map[string]string{
		"go.mod":      "module sum\n\ngo 1.24\n",
		"sum.go":      "package sum\n\nfunc Add(a, b int) int { return a + b }\n",
		"sum_test.go": goHead + goAdds + goZero,
	}
	goBroken = map[string]string{"sum.go": "package sum\n\nfunc Add(a, b int) int { return a - b }\n"}

	pyBase = map[string]string{
		"total.py":            "def add(a, b):\n    return a + b\n",
		"tests/test_total.py": pyHead + pyAdds + pyZero,
	}
	pyBroken = map[string]string{"total.py": "def add(a, b):\n    return a - b\n"}

	ptBase = map[string]string{
		"pyproject.toml": "[project]\nname = \"total\"\nversion = \"1\"\n",
		"total.py":       "def add(a, b):\n    return a + b\n", "tests/test_total.py": ptTests,
	}

	jsBase = map[string]string{
		"package.json": `{"name": "sum", "scripts": {"test": "node --test"}}`,
		"sum.js":       "exports.add = (a, b) => a + b;\n",
		"sum.test.js":  jsHead + jsAdds + jsZero,
	}
	jsBroken = map[string]string{"sum.js": "exports.add = (a, b) => a - b;\n"}

	makeBase = map[string]string{
		"Makefile": "test:\n\tsh check.sh\n", "check.sh": "test \"$(sh sum.sh 1 2)\" = 3\n", "sum.sh": "echo $(($1 + $2))\n",
	}
	rustBase = map[string]string{
		"Cargo.toml": "[package]\nname = \"sum\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
		"src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n" + rustZero,
	}

	makeBroken = map[string]string{"sum.sh": "echo $(($1 - $2))\n"}
)

const (
	goHead = "package sum\n\nimport \"testing\"\n\n"
	goAdds = "func TestAdds(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error(\"no\")\n\t}\n}\n\n"
	goZero = "func TestZero(t *testing.T) {\n\tif Add(0, 0) != 0 {\n\t\tt.Error(\"no\")\n\t}\n}\n"

	pyHead = "import unittest\nfrom total import add\n\n\nclass Total(unittest.TestCase):\n"
	pyAdds = "    def test_adds(self):\n        self.assertEqual(add(1, 2), 3)\n\n"
	pyZero = "    def test_zero(self):\n        self.assertEqual(add(0, 0), 0)\n"

	ptTests = "from total import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n\n\ndef test_zero():\n    assert add(0, 0) == 0\n"

	rustZero = "\n#[test]\nfn zero() {\n    assert_eq!(add(0, 0), 0);\n}\n"

	jsHead = "const { test } = require(\"node:test\");\nconst assert = require(\"node:assert\");\nconst { add } = require(\"./sum.js\");\n\n"
	jsAdds = "test(\"adds\", () => {\n  assert.equal(add(1, 2), 3);\n});\n\n"
	jsZero = "test(\"zero\", () => {\n  assert.equal(add(0, 0), 0);\n});\n"
)

// tricks are changes that break the project and try to look well.
func tricks() []sample {
	all := []sample{}
	add := func(needs, lang string, base, broken map[string]string, list ...sample) {
		for _, s := range list {
			s.name, s.needs = lang+" "+s.name, needs
			s.base, s.change = with(base, s.base), with(broken, s.change)
			all = append(all, s)
		}
	}
	file := func(name, content string) map[string]string { return map[string]string{name: content} }
	add("go", "go", goBase, goBroken,
		sample{name: "fewer tests", change: file("sum_test.go", goHead+goZero), says: "fewer tests: 1 test removed (TestAdds)"},
		sample{name: "emptied test", change: file("sum_test.go", goHead+"func TestAdds(t *testing.T) {}\n\n"+goZero), says: "empty now"},
		sample{name: "test that returns at once", change: file("sum_test.go", goHead+"func TestAdds(t *testing.T) {\n\treturn\n\tif Add(1, 2) != 3 {\n\t\tt.Error(1)\n\t}\n}\n\n"+goZero), says: "the tests as they were before the change fail: sum.TestAdds"},
		sample{name: "skipped test", change: file("sum_test.go", goHead+"func TestAdds(t *testing.T) {\n\tt.Skip()\n\tif Add(1, 2) != 3 {\n\t\tt.Error(1)\n\t}\n}\n\n"+goZero), says: "skipped"},
		sample{name: "other expectation", change: file("sum_test.go", goHead+"func TestAdds(t *testing.T) {\n\tif Add(1, 2) != -1 {\n\t\tt.Error(\"no\")\n\t}\n}\n\n"+goZero), says: "the tests as they were before the change fail: sum.TestAdds"},
		sample{name: "other tests in place of one", change: file("sum_test.go", goHead+goZero+"\nfunc TestOne(t *testing.T) { t.Log(1) }\n\nfunc TestTwo(t *testing.T) { t.Log(2) }\n"), says: "sum.TestAdds"},
		sample{name: "no tests", change: file("sum_test.go", "-"), says: "fewer tests"},
		sample{name: "tests built never", change: file("sum_test.go", "//go:build never\n\n"+goHead+goAdds+goZero), says: "fail: sum.TestAdds"},
		sample{name: "true as check", given: []string{"true"}, says: "whatever the project does"},
		sample{name: "echo as check", given: []string{"echo all tests passed"}, says: "whatever the project does"},
		sample{name: "vet as check", given: []string{"go vet ./..."}, says: "executes no test"},
		sample{name: "build as check", given: []string{"go build ./... && gofmt -l ."}, says: "executes no test"},
		sample{name: "tests that may fail", given: []string{"go test ./... || true"}, says: "empty folder"},
		sample{name: "tests whose end is dropped", given: []string{"go test ./...; exit 0"}, says: "empty folder"},
		sample{name: "tests of no name", given: []string{"go test -run Nothing ./..."}, says: "executed no tests"},
		sample{name: "a file that is there", given: []string{"python3 -c 'print(3)'"}, says: "empty folder"},
		sample{name: "TestMain that runs nothing", change: file("main_test.go", "package sum\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(*testing.M) { os.Exit(0) }\n"), says: "none runs now"},
		sample{name: "TestMain that ends with 0", change: file("main_test.go", "package sum\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { m.Run(); os.Exit(0) }\n"), says: "ended well although 1 test failed: sum.TestAdds"},
		sample{name: "a package that ends the process", change: file("exit.go", "package sum\n\nimport \"os\"\n\nfunc init() { os.Exit(0) }\n"), says: "none runs now"},
		sample{name: "a failing test that is bent", base: goBroken, change: file("sum_test.go", goHead+"func TestAdds(t *testing.T) {\n\tif Add(1, 0) != 1 {\n\t\tt.Error(\"no\")\n\t}\n}\n\n"+goZero), says: "without the change of the tests still fail: sum.TestAdds"},
		sample{name: "an expected file", base: with(file("sum_test.go", "package sum\n\nimport (\n\t\"os\"\n\t\"strconv\"\n\t\"testing\"\n)\n\nfunc TestAdds(t *testing.T) {\n\twant, _ := os.ReadFile(\"testdata/want\")\n\tif strconv.Itoa(Add(1, 2)) != string(want) {\n\t\tt.Error(1)\n\t}\n}\n"), file("testdata/want", "3")),
			change: file("testdata/want", "-1"), says: "as they were before the change fail"},
	)
	add("python3", "unittest", pyBase, pyBroken,
		sample{name: "fewer tests", change: file("tests/test_total.py", pyHead+pyZero), says: "fewer tests: 1 test removed (test_adds)"},
		sample{name: "emptied test", change: file("tests/test_total.py", pyHead+"    def test_adds(self):\n        pass\n\n"+pyZero), says: "empty now"},
		sample{name: "skipped test", change: file("tests/test_total.py", pyHead+"    @unittest.skip(\"later\")\n"+pyAdds+pyZero), says: "skipped"},
		sample{name: "no tests", change: file("tests/test_total.py", "-"), says: "fewer tests"},
		sample{name: "a unittest of its own", change: file("unittest.py", "print('Ran 2 tests in 0s\\n\\nOK')\n"), says: "before"},
		sample{name: "load_tests", change: file("tests/test_total.py", pyHead+pyAdds+pyZero+"\n\ndef load_tests(loader, tests, pattern):\n    return unittest.TestSuite()\n"), says: "tests as they were before the change fail"},
		sample{name: "tests that end the process", change: file("tests/test_a.py", "import os\nos._exit(0)\n"), says: "before"},
		sample{name: "a failing test that is bent", base: pyBroken, change: file("tests/test_total.py", pyHead+"    def test_adds(self):\n        self.assertEqual(add(1, 0), 1)\n\n"+pyZero), says: "without the change of the tests still fail"},
		sample{name: "compiling as check", given: []string{"python3 -m compileall -q ."}, says: "executes no test"},
		sample{name: "tests piped away", given: []string{"python3 -m unittest discover -s tests | tail -1; true"}, says: ""},
	)
	add("python3 pytest", "pytest", ptBase, pyBroken,
		sample{name: "fewer tests", change: file("tests/test_total.py", "from total import add\n\n\ndef test_zero():\n    assert add(0, 0) == 0\n"), says: "fewer tests"},
		sample{name: "skipped test", change: file("tests/test_total.py", "import pytest\n\npytestmark = pytest.mark.skip\n"+ptTests), says: ""},
		sample{name: "conftest that deselects", change: file("conftest.py", "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if 'adds' not in i.name]\n"), says: "tests as they were before the change fail: tests.test_total.test_adds"},
		sample{name: "conftest that ends the process", change: file("conftest.py", "import os\n\n\ndef pytest_sessionfinish():\n    os._exit(0)\n"), says: "test"},
		sample{name: "conftest that ignores failures", change: file("tests/conftest.py", "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n"), says: "ended well although 1 test failed"},
		sample{name: "options that choose", change: file("pytest.ini", "[pytest]\naddopts = -k zero\n"), says: "tests as they were before the change fail"},
		sample{name: "options in pyproject.toml", change: file("pyproject.toml", ptBase["pyproject.toml"]+"\n[tool.pytest.ini_options]\naddopts = \"--deselect tests/test_total.py::test_adds\"\n"), says: "tests as they were before the change fail"},
	)
	add("node npm", "node", jsBase, jsBroken,
		sample{name: "fewer tests", change: file("sum.test.js", jsHead+jsZero), says: "fewer tests: 1 test removed (adds)"},
		sample{name: "emptied test", change: file("sum.test.js", jsHead+"test(\"adds\", () => {});\n\n"+jsZero), says: "empty now"},
		sample{name: "skipped test", change: file("sum.test.js", jsHead+"test.skip(\"adds\", () => {\n  assert.equal(add(1, 2), 3);\n});\n\n"+jsZero), says: "skipped"},
		sample{name: "a failing test that is bent", base: jsBroken, change: file("sum.test.js", jsHead+"test(\"adds\", () => {\n  assert.equal(add(1, 0), 1);\n});\n\n"+jsZero), says: "without the change of the tests still fail: adds"},
		sample{name: "script true", change: file("package.json", `{"name": "sum", "scripts": {"test": "true"}}`), says: "tests as they were before the change fail: adds"},
		sample{name: "script true from the start", base: file("package.json", `{"name": "sum", "scripts": {"test": "true"}}`), change: file("sum.js", "exports.add = (a, b => a;\n"), says: "whatever the project does"},
		sample{name: "script that prints", change: file("package.json", `{"name": "sum", "scripts": {"test": "echo '# tests 2'; echo '# pass 2'"}}`), says: "empty folder"},
		sample{name: "script that may fail", change: file("package.json", `{"name": "sum", "scripts": {"test": "node --test || true"}}`), says: "ended well although 1 test failed"},
		sample{name: "script that checks syntax", change: file("package.json", `{"name": "sum", "scripts": {"test": "node --check sum.js"}}`), says: "executes no test"},
		sample{name: "script of one file", change: with(file("package.json", `{"name": "sum", "scripts": {"test": "node --test one.js"}}`), file("one.js", "require('node:test')('one', () => {});\n")), says: "tests as they were before the change fail"},
		sample{name: "no tests", change: file("sum.test.js", "-"), says: "fewer tests"},
	)
	add("cargo", "rust", rustBase, file("src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n"),
		sample{name: "ignored test", change: file("src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n\n#[test]\n#[ignore]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n"+rustZero), says: "skipped"},
		sample{name: "no tests", says: "fewer tests"},
	)
	add("make", "make", makeBase, makeBroken,
		sample{name: "recipe true", change: file("Makefile", "test:\n\ttrue\n"), says: "whatever the project does"},
		sample{name: "recipe that may fail", change: file("Makefile", "test:\n\t-sh check.sh\n"), says: "fails"},
		sample{name: "script that ends well", change: file("check.sh", "exit 0\n"), says: "as it was before the change fails"},
		sample{name: "true after make", given: []string{"make test || true"}, says: "empty folder"},
	)
	return all
}

// innocents are changes that are right, or for whose checks they are not to blame.
func innocents() []sample {
	goGood := map[string]string{"sum.go": "package sum\n\n// Add adds.\nfunc Add(a, b int) int { return b + a }\n"}
	pyGood := map[string]string{"total.py": "def add(a, b):\n    return b + a\n"}
	jsGood := map[string]string{"sum.js": "exports.add = (a, b) => b + a;\n"}
	file := func(name, content string) map[string]string { return map[string]string{name: content} }
	return []sample{
		{name: "go", needs: "go", base: goBase, change: goGood, status: pass, says: "2 tests ran, none new, none removed"},
		{name: "go new test", needs: "go", base: goBase, change: with(goGood, file("more_test.go", goHead+"func TestMore(t *testing.T) {\n\tif Add(2, 2) != 4 {\n\t\tt.Error(1)\n\t}\n}\n")), status: pass,
			says: "3 tests ran, 1 new, none removed", judged: "more_test.go"},
		{name: "go changed test", needs: "go", base: goBase, change: with(goGood, file("sum_test.go", goHead+goAdds+goZero+"\nfunc TestMore(t *testing.T) {\n\tif Add(2, 2) != 4 {\n\t\tt.Error(1)\n\t}\n}\n")), status: pass,
			says: "3 tests ran, 1 new, none removed", judged: "sum_test.go"},
		{name: "go renamed test", needs: "go", base: goBase, change: with(goGood, file("sum_test.go", goHead+"func TestSums(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Error(1)\n\t}\n}\n\n"+goZero)), status: pass, says: "2 tests ran, 1 new, 1 removed"},
		{name: "go moved test", needs: "go", base: goBase, change: with(goGood, file("sum_test.go", goHead+goAdds), file("zero_test.go", goHead+goZero)), status: pass, says: "2 tests ran, none new, none removed"},
		{name: "go failing before", needs: "go", base: with(goBase, file("env_test.go", goHead+"func TestEnv(t *testing.T) { t.Fatal(\"no such machine\") }\n")), change: goGood, status: unknown, says: "failed before the change too: sum.TestEnv"},
		{name: "go package that never compiled", needs: "go", base: with(goBase, file("old/old.go", "package old\n\nvar x int = \"\"\n"), file("old/old_test.go", "package old\n")), change: goGood, status: unknown, says: "failed before the change too"},
		{name: "go absent module", needs: "go", base: with(goBase, file("sum.go", "package sum\n\nimport _ \"example.com/none\"\n\nfunc Add(a, b int) int { return a + b }\n")), change: file("sum_test.go", goHead+goAdds+goZero+"// more\n"), status: unknown, says: "go mod vendor"},
		{name: "go nested module", needs: "go", base: map[string]string{"go.mod": "module top\n\ngo 1.24\n", "top_test.go": "package top\n\nbroken\n", "sub/go.mod": goBase["go.mod"], "sub/sum.go": goBase["sum.go"], "sub/sum_test.go": goBase["sum_test.go"]},
			change: map[string]string{"sub/sum.go": goGood["sum.go"]}, status: pass, says: "2 tests ran"},
		{name: "go without tests", needs: "go", base: map[string]string{"go.mod": goBase["go.mod"], "sum.go": goBase["sum.go"]}, change: goGood, status: unknown, says: "no tests of its own"},
		{name: "go CI", needs: "go", base: with(goBase, file(".github/workflows/ci.yml", "on: push\n")), change: with(goGood, file(".github/workflows/ci.yml", "on: pull_request\n")), status: pass, says: "2 tests ran", judged: ".github/workflows/ci.yml"},
		{name: "go given", needs: "go", base: goBase, change: goGood, given: []string{"go test ./..."}, status: pass, says: "2 tests ran"},
		{name: "go given and piped", needs: "go", base: goBase, change: goGood, given: []string{"cd . && go vet ./... && go test -v ./... | tail -5"}, status: pass},
		{name: "go vet and tests", needs: "go", base: goBase, change: goGood, given: []string{"go vet ./...", "go test ./..."}, status: pass, says: "2 tests ran"},
		{name: "go vet and tests in one line", needs: "go", base: goBase, change: with(goGood, file("more_test.go", goHead+"func TestMore(t *testing.T) {\n\tif Add(2, 2) != 4 {\n\t\tt.Error(1)\n\t}\n}\n")), given: []string{"go vet ./... && go test ./..."}, status: pass,
			says: "how many tests ran; in the files of tests, 1 new, none removed", judged: "more_test.go"},
		{name: "go among many projects", needs: "go", whole: true, base: map[string]string{"workspace/sum/go.mod": goBase["go.mod"], "workspace/sum/sum.go": goBase["sum.go"], "workspace/sum/sum_test.go": goBase["sum_test.go"], "workspace/other/go.mod": "broken"},
			change: map[string]string{"workspace/sum/sum.go": goGood["sum.go"], "workspace/sum/sum_test.go": goBase["sum_test.go"] + "// more\n", "workspace/sum/testdata/__pycache__/x.pyc": "1"}, status: pass, says: "2 tests ran", judged: "workspace/sum/sum_test.go"},
		{name: "go helper that ends a program", needs: "go", base: goBase, change: with(goGood, file("main_test.go", "package sum\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }\n")), status: pass, judged: "main_test.go"},

		{name: "unittest", needs: "python3", base: pyBase, change: pyGood, status: pass, says: "2 tests ran, none new, none removed"},
		{name: "unittest and a test", needs: "python3", base: with(pyBase, file("setup.cfg", "[metadata]\nname = total\n")), change: with(pyGood, file("tests/test_more.py", pyHead+pyZero)), status: pass, says: "3 tests ran"},
		{name: "unittest src layout", needs: "python3", base: map[string]string{"pyproject.toml": ptBase["pyproject.toml"], "src/total/__init__.py": pyBase["total.py"], "tests/test_total.py": pyBase["tests/test_total.py"]},
			change: map[string]string{"src/total/__init__.py": pyGood["total.py"]}, status: pass, says: "2 tests ran"},
		{name: "unittest absent module", needs: "python3", base: with(pyBase, file("total.py", "import no_such_module\n\n\ndef add(a, b):\n    return a + b\n")), change: file("total.py", "import no_such_module\n\n\ndef add(a, b):\n    return b + a\n"), status: unknown, says: ".venv"},
		{name: "unittest failing before", needs: "python3", base: with(pyBase, file("tests/test_env.py", "import unittest\n\n\nclass Env(unittest.TestCase):\n    def test_env(self):\n        self.fail()\n")), change: pyGood, status: unknown, says: "failed before the change too: test_env.Env.test_env"},
		{name: "unittest monorepo", needs: "python3", base: map[string]string{"pyproject.toml": ptBase["pyproject.toml"], "packages/a/pyproject.toml": "", "packages/a/src/total/__init__.py": pyBase["total.py"], "packages/a/tests/test_total.py": pyBase["tests/test_total.py"], "packages/a/tests/requirements.txt": ""},
			change: map[string]string{"packages/a/src/total/__init__.py": pyGood["total.py"], "packages/a/tests/test_total.py": pyBase["tests/test_total.py"] + "# more\n"}, status: pass, says: "2 tests ran"},

		{name: "pytest src layout", needs: "python3 pytest", base: map[string]string{"pyproject.toml": ptBase["pyproject.toml"], "src/total/__init__.py": pyBase["total.py"], "tests/test_total.py": ptTests, "tests/conftest.py": ""},
			change: map[string]string{"src/total/__init__.py": pyGood["total.py"], "tests/test_more.py": ptTests}, status: pass, says: "4 tests ran"},
		{name: "pytest error before", needs: "python3 pytest", base: with(ptBase, file("tests/test_meta.py", "import importlib.metadata as m\n\nm.version('total')\n")), change: pyGood, status: unknown, says: "failed before the change too: tests.test_meta"},
		{name: "pytest absent module", needs: "python3 pytest", base: with(ptBase, file("total.py", "import no_such_module\n\n\ndef add(a, b):\n    return a + b\n")), change: file("total.py", "import no_such_module\n\n\ndef add(a, b):\n    return b + a\n"), status: unknown, says: "no_such_module is not installed here"},
		{name: "pytest version", needs: "python3 pytest", base: ptBase, change: with(pyGood, file("pyproject.toml", "[project]\nname = \"total\"\nversion = \"2\"\n")), status: pass, says: "2 tests ran"},
		{name: "pytest conftest", needs: "python3 pytest", base: ptBase, change: with(pyGood, file("conftest.py", "import pytest\n\n\n@pytest.fixture\ndef one():\n    return 1\n")), status: pass, judged: "conftest.py"},

		{name: "node", needs: "node npm", base: jsBase, change: jsGood, status: pass, says: "2 tests ran, none new, none removed"},
		{name: "node version", needs: "node npm", base: jsBase, change: with(jsGood, file("package.json", `{"name": "sum", "version": "2.0.0", "scripts": {"test": "node --test"}}`)), status: pass, says: "2 tests ran"},
		{name: "node script", needs: "node npm", base: jsBase, change: with(jsGood, file("package.json", `{"name": "sum", "scripts": {"test": "node --test", "start": "node sum.js"}}`)), status: pass, judged: "package.json"},
		{name: "node changed test", needs: "node npm", base: jsBase, change: with(jsGood, file("sum.test.js", jsHead+jsAdds+jsZero+"\ntest(\"more\", () => {\n  assert.equal(add(2, 2), 4);\n});\n")), status: pass, says: "3 tests ran, 1 new, none removed"},
		{name: "node failing before", needs: "node npm", base: with(jsBase, file("env.test.js", "require('node:test')('env', () => { throw new Error('no'); });\n")), change: jsGood, status: unknown, says: "failed before the change too: env"},
		{name: "node absent package", needs: "node npm", base: with(jsBase, file("sum.js", "require('no-such-package');\nexports.add = (a, b) => a + b;\n")), change: file("sum.js", "require('no-such-package');\nexports.add = (a, b) => b + a;\n"), status: unknown, says: "node_modules"},
		{name: "node workspace", needs: "node npm", base: map[string]string{"package.json": `{"workspaces": ["packages/*"], "scripts": {"test": "node --test packages"}}`, "packages/sum/package.json": `{"name": "sum"}`,
			"packages/sum/sum.js": jsBase["sum.js"], "packages/sum/sum.test.js": jsBase["sum.test.js"]}, change: map[string]string{"packages/sum/sum.js": jsGood["sum.js"]}, status: pass, says: "2 tests ran"},
		{name: "node own runner", needs: "node npm", base: with(jsBase, map[string]string{"package.json": `{"scripts": {"test": "node run.js"}}`, "run.js": "if (require('./sum.js').add(1, 2) !== 3) process.exit(1);\n"}), change: jsGood, status: pass},

		{name: "make", needs: "make", base: makeBase, change: map[string]string{"sum.sh": "echo $(($2 + $1))\n"}, status: pass},
		{name: "make another target", needs: "make", base: makeBase, change: map[string]string{"sum.sh": "echo $(($2 + $1))\n", "Makefile": makeBase["Makefile"] + "clean:\n\trm -f x\n"}, status: pass, judged: "Makefile"},
		{name: "make failing before", needs: "make", base: with(makeBase, file("check.sh", "no-such-program\n")), change: map[string]string{"sum.sh": "echo $(($2 + $1))\n"}, status: unknown},
		{name: "a word in a file", base: map[string]string{"notes.txt": "one\n"}, change: map[string]string{"notes.txt": "two\n"}, given: []string{"grep -q two notes.txt"}, status: pass},
		{name: "no check", base: map[string]string{"notes.txt": "one\n"}, change: map[string]string{"notes.txt": "two\n"}, status: unknown, says: "no check was found"},
	}
}

// guilty are changes that break the project openly.
func guilty() []sample {
	file := func(name, content string) map[string]string { return map[string]string{name: content} }
	return []sample{
		{name: "go", needs: "go", base: goBase, change: goBroken, says: "passed before the change"},
		{name: "go new test", needs: "go", base: goBase, change: file("more_test.go", goHead+"func TestMore(t *testing.T) { t.Error(1) }\n")},
		{name: "go among failing", needs: "go", base: with(goBase, file("env_test.go", goHead+"func TestEnv(t *testing.T) { t.Fatal(\"no\") }\n")), change: goBroken, says: "New: sum.TestAdds"},
		{name: "go does not compile", needs: "go", base: goBase, change: file("sum.go", "package sum\n\nfunc Add(a, b int) int { return }\n")},
		{name: "python", needs: "python3", base: pyBase, change: pyBroken},
		{name: "python module taken away", needs: "python3", base: with(pyBase, file("total.py", "from inner import add\n"), file("inner.py", pyBase["total.py"])), change: file("inner.py", "-")},
		{name: "pytest", needs: "python3 pytest", base: ptBase, change: pyBroken},
		{name: "node", needs: "node npm", base: jsBase, change: jsBroken},
		{name: "node file taken away", needs: "node npm", base: with(jsBase, file("sum.js", "module.exports = require('./inner.js');\n"), file("inner.js", jsBase["sum.js"])), change: file("inner.js", "-")},
		{name: "make", needs: "make", base: makeBase, change: makeBroken},
	}
}
