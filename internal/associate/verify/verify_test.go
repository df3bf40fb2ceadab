package verify_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"choiros/internal/associate/verify"
	"choiros/internal/choir"
)

// machine has the programs it lists.
type machine []string

func (m machine) Has(program string) bool         { return slices.Contains(m, program) }
func (m machine) HasModule(_, module string) bool { return slices.Contains(m, "py:"+module) }

var full = machine{"go", "cargo", "npm", "pnpm", "node", "python3", "make"}

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestDiscover(t *testing.T) {
	t.Parallel()
	mixed := map[string]string{"go.mod": "", "a_test.go": "", "package.json": `{"scripts":{"test":"x","lint":"y"}}`, "Makefile": "test:\n\ttrue\n"}
	for _, c := range []struct {
		name    string
		files   map[string]string
		changed []string
		mode    choir.VerifyMode
		m       machine
		want    string
	}{
		{"go", map[string]string{"go.mod": "", "a/b_test.go": ""}, nil, "smoke", full, "go test ./..."},
		{"go without tests is vetted", map[string]string{"go.mod": "", "vendor/x_test.go": ""}, nil, "smoke", full, "(go vet ./...)"},
		{"go full", map[string]string{"go.mod": "", "b_test.go": ""}, nil, "full", full, "go test ./...; (go vet ./...)"},
		{"rust", map[string]string{"Cargo.toml": ""}, nil, "smoke", full, "cargo test --offline"},
		{"rust missing", map[string]string{"Cargo.toml": ""}, nil, "smoke", machine{}, "cargo test --offline!cargo is not on this machine"},
		{"node script", map[string]string{"package.json": `{"scripts":{"test":"x"}}`}, nil, "smoke", full, "npm test"},
		{"node pnpm", map[string]string{"package.json": `{"scripts":{"test":"x"}}`, "pnpm-lock.yaml": ""}, nil, "smoke", full, "pnpm test"},
		{"node default script", map[string]string{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`, "a.test.mjs": ""}, nil, "smoke", full, "node --test"},
		{"node nothing", map[string]string{"package.json": `{}`}, nil, "smoke", full, ""},
		{"node not installed", map[string]string{"package.json": `{"scripts":{"test":"vitest"},"devDependencies":{"vitest":"1"}}`}, nil, "smoke", full,
			"npm test!the dependencies in package.json are not installed, and there is no network; a node_modules folder that has it, in the project when it is added, would bring it"},
		{"pytest", map[string]string{"tests/test_a.py": "def test_a(): pass"}, nil, "smoke", append(machine{"py:pytest"}, full...), "python3 -m pytest -q -p no:cacheprovider --continue-on-collection-errors"},
		{"unittest", map[string]string{"tests/test_a.py": "import unittest"}, nil, "smoke", full, "python3 -m unittest discover -v -s tests"},
		{"pytest missing", map[string]string{"test_a.py": "def test_a(): pass"}, nil, "smoke", full,
			"python3 -m unittest discover -v!the tests are written for pytest, which is not on this machine; a .venv folder with it, in the project when it is added, would bring it"},
		{"make", map[string]string{"Makefile": "all:\ntest: all\n\ttrue\ncheck::\n"}, nil, "smoke", full, "make test"},
		{"make without tests", map[string]string{"Makefile": "test := 1\nall:\n"}, nil, "smoke", full, ""},
		{"plain", map[string]string{"README": ""}, []string{"README"}, "smoke", full, ""},
		{"what changed decides", mixed, []string{"x.go"}, "smoke", full, "go test ./..."},
		{"nothing known changed", mixed, []string{"x.css"}, "smoke", full, "go test ./...; npm test"},
		{"full takes all", mixed, []string{"x.go"}, "full", full, "go test ./...; (go vet ./...); npm test; (npm run lint); make test"},
		{"nearest project", map[string]string{"go.mod": "", "a_test.go": "", "ui/package.json": `{"scripts":{"test":"x"}}`},
			[]string{"ui/src/a.ts", "b.go"}, "smoke", full, "go test ./...; ui: npm test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, ch := range verify.Discover(tree(t, c.files), c.changed, c.mode, c.m) {
				s := strings.Join(ch.Command.Argv, " ")
				if !ch.Tests {
					s = "(" + s + ")"
				}
				if ch.Missing != "" {
					s += "!" + ch.Missing
				}
				if ch.Dir != "." {
					s = ch.Dir + ": " + s
				}
				got = append(got, s)
			}
			if s := strings.Join(got, "; "); s != c.want {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	check := func(kind string, tests bool, argv ...string) verify.Check {
		return verify.Check{Kind: kind, Tests: tests, Command: choir.Command{Argv: argv}}
	}
	for _, c := range []struct {
		name  string
		check verify.Check
		exit  int
		out   string
		want  choir.VerifyStatus
	}{
		{"go passes", check("go", true, "go"), 0, "ok  \tx\t0.1s\n", choir.VerifyPass},
		{"go cached", check("go", true, "go"), 0, "?   \ty\t[no test files]\nok  \tx\t(cached)\n", choir.VerifyPass},
		{"go without tests", check("go", true, "go"), 0, "?   \tx\t[no test files]\n", choir.VerifyUnknown},
		{"go empty tests", check("go", true, "go"), 0, "ok  \tx\t0.1s [no tests to run]\n", choir.VerifyUnknown},
		{"go fails", check("go", true, "go"), 1, "--- FAIL: TestX\n", choir.VerifyFail},
		{"go does not compile", check("go", false, "go", "vet"), 1, "x.go:1: syntax error", choir.VerifyFail},
		{"go vet only", check("go", false, "go", "vet"), 0, "", choir.VerifyUnknown},
		{"go offline", check("go", true, "go"), 1, "x@v1: module lookup disabled by GOPROXY=off\n", choir.VerifyUnknown},
		{"a failing test cannot plead offline", check("go", true, "go"), 1, "module lookup disabled by GOPROXY=off\n--- FAIL: TestX\n", choir.VerifyFail},
		{"rust", check("rust", true, "cargo"), 0, "test result: ok. 0 passed; 0\ntest result: ok. 2 passed", choir.VerifyPass},
		{"rust none", check("rust", true, "cargo"), 0, "test result: ok. 0 passed", choir.VerifyUnknown},
		{"node none", check("node", true, "node", "--test"), 0, "# tests 0\n", choir.VerifyUnknown},
		{"node script", check("node", true, "npm", "test"), 0, "", choir.VerifyPass},
		{"unittest none", check("python", true, "python3"), 0, "Ran 0 tests in 0.0s\n", choir.VerifyUnknown},
		{"unittest", check("python", true, "python3"), 0, "Ran 3 tests in 0.0s\n\nOK", choir.VerifyPass},
		{"pytest none", check("python", true, "python3"), 5, "", choir.VerifyUnknown},
		{"tool missing", check("make", true, "make"), 127, "", choir.VerifyUnknown},
		{"killed", check("make", true, "make"), -1, "", choir.VerifyFail},
	} {
		if got, reason := verify.Judge(c.check, verify.Ran{ExitCode: c.exit, Output: []byte(c.out)}); got != c.want {
			t.Errorf("%s: %s %s", c.name, got, reason)
		}
	}
}

func TestTogetherIsAsWeakAsItsWeakestTests(t *testing.T) {
	t.Parallel()
	const pass, fail, unknown = choir.VerifyPass, choir.VerifyFail, choir.VerifyUnknown
	tests, vet := verify.Check{Tests: true}, verify.Check{}
	for _, c := range []struct {
		checks   []verify.Check
		statuses []choir.VerifyStatus
		want     choir.VerifyStatus
	}{
		{nil, nil, unknown},
		{[]verify.Check{tests, vet}, []choir.VerifyStatus{pass, unknown}, pass},
		{[]verify.Check{tests, tests}, []choir.VerifyStatus{pass, unknown}, unknown},
		{[]verify.Check{tests, vet}, []choir.VerifyStatus{pass, fail}, fail},
		{[]verify.Check{vet}, []choir.VerifyStatus{unknown}, unknown},
	} {
		if got := verify.Together(c.checks, c.statuses); got != c.want {
			t.Errorf("%v: %s, want %s", c.statuses, got, c.want)
		}
	}
}

func TestOnlyATaskThatReachesNothingIsToldToDoWithout(t *testing.T) {
	var env []string
	for _, v := range verify.Env("/cache") {
		env = append(env, v.Name+"="+v.Value)
	}
	env = append(env, "GOPROXY=https://own.test")
	left := verify.LetDownload(env)
	for _, gone := range []string{"GOPROXY=off", "CARGO_NET_OFFLINE=true", "npm_config_offline=true"} {
		if !slices.Contains(env, gone) || slices.Contains(left, gone) {
			t.Errorf("%s: %v, then %v", gone, env, left)
		}
	}
	if !slices.Contains(left, "GOPROXY=https://own.test") || len(left) != len(env)-3 {
		t.Errorf("left are %v", left)
	}
}
