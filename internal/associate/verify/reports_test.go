package verify

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestReportsAreRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, out string
		want      Tally
		tests     string
	}{
		{"tap", "TAP version 13\n# Subtest: one\nok 1 - one\n# Subtest: s\n    # Subtest: in\n    not ok 1 - in\n    1..1\nnot ok 2 - s\nok 3 - off # SKIP\n1..3\n# tests 3\n# pass 1\n# fail 1\n# skipped 1\n", Tally{1, 1, 1}, "off one s s > in"},
		{"spec", "✔ one (0.5ms)\n▶ s\n  ✖ in (1.5ms)\n▶ s (2ms)\n﹣ off (0.1ms) # SKIP\nℹ tests 3\nℹ pass 1\nℹ fail 1\nℹ skipped 1\n\n✖ failing tests:\n\n✖ in (1.5ms)\n", Tally{1, 1, 1}, "in off one"},
		{"cargo", "running 2 tests\ntest adds ... ok\ntest b::c ... FAILED\ntest src/lib.rs - add (line 3) ... ignored\n\ntest result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured\n", Tally{1, 1, 1}, "adds b::c src/lib.rs - add"},
		{"unittest", "test_a (t.T.test_a) ... ok\ntest_b (t.T)\nWhat it does ... FAIL\ntest_c (t.T.test_c) ... skipped 'x'\n\nRan 3 tests in 0.0s\n\nFAILED (failures=1, skipped=1)\n", Tally{1, 1, 1}, "t.T.test_a t.T.test_b t.T.test_c"},
		{"pytest", "..F\n= 1 failed, 2 passed, 1 skipped, 3 warnings in 0.12s =\n", Tally{2, 1, 1}, ""},
		{"pytest -q", "1 failed, 2 passed in 0.12s\n", Tally{2, 1, 0}, ""},
		{"jest", "Test Suites: 1 passed, 1 total\nTests:       1 failed, 2 passed, 3 total\n", Tally{2, 1, 0}, ""},
		{"vitest", " Test Files  1 passed (1)\n      Tests  1 failed | 2 passed (3)\n", Tally{2, 1, 0}, ""},
		{"mocha", "  adds\n    ✓ one\n\n  2 passing (5ms)\n  1 failing\n", Tally{2, 1, 0}, ""},
		{"nothing", "all is well\n", Tally{}, ""},
	} {
		r := textReport(c.out)
		if r.Known != (c.want != Tally{}) || r.Total != c.want || strings.Join(r.names(func(Tally) bool { return true }), " ") != c.tests {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

func TestGoTestPrintsWhatItPrintsWithoutJSON(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"Action":"start","Package":"m"}`,
		`{"Action":"run","Package":"m","Test":"TestA"}`,
		`{"Action":"output","Package":"m","Test":"TestA","Output":"=== RUN   TestA\n"}`,
		`{"Action":"output","Package":"m","Test":"TestA","Output":"--- PASS: TestA (0.00s)\n"}`,
		`{"Action":"pass","Package":"m","Test":"TestA"}`,
		`{"Action":"output","Package":"m","Test":"TestB/sub","Output":"    --- FAIL: TestB/sub (0.00s)\n"}`,
		`{"Action":"output","Package":"m","Test":"TestB","Output":"--- FAIL: TestB (0.00s)\n"}`,
		`{"Action":"fail","Package":"m","Test":"TestB/sub"}`,
		`{"Action":"fail","Package":"m","Test":"TestB"}`,
		`{"Action":"output","Package":"m","Output":"FAIL\tm\t0.1s\n"}`,
		`{"Action":"fail","Package":"m"}`,
		`{"ImportPath":"n","Action":"build-output","Output":"n.go:1: broken\n"}`,
		`{"Action":"fail","Package":"n","FailedBuild":"n"}`,
		`not JSON`,
	}
	want := "    --- FAIL: TestB/sub (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\tm\t0.1s\nn.go:1: broken\nnot JSON\n"
	all := strings.Join(lines, "\n") + "\n"
	for _, step := range []int{1, 7, len(all)} {
		var g goStream
		var shown string
		for rest := all; rest != ""; {
			n := min(step, len(rest))
			shown, rest = shown+string(g.text([]byte(rest[:n]))), rest[n:]
		}
		if shown != want {
			t.Errorf("in steps of %d it shows\n%s", step, shown)
		}
		if got := g.report.Tests; !reflect.DeepEqual(got, map[string]Tally{"m.TestA": {Passed: 1}, "m.TestB": {Failed: 1}, "n (does not compile)": {Failed: 1}}) {
			t.Errorf("%v", got)
		}
	}
}

func TestNoNameOfAReportIsShown(t *testing.T) {
	t.Parallel()
	out := "..\n- generated xml file: /tmp/x/junit.xml -\n---- short ----\n- x\nend"
	var r reportLine
	var shown []byte
	for _, b := range []byte(out) {
		shown = append(shown, r.text([]byte{b})...)
	}
	if want := "..\n---- short ----\n- x\nend"; string(shown) != want {
		t.Errorf("%q", shown)
	}
}

// TestAPlaceIsNotLeft holds that links of a project lead nothing that verification
// restores out of its copy.
func TestAPlaceIsNotLeft(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(root, "tests")); err != nil {
		t.Fatal(err)
	}
	p, err := newFresh(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.copyFrom(t.Context(), root, "."); err != nil {
		t.Fatal(err)
	}
	if err := p.restore(Changed{Path: "tests/a", Before: &Former{Mode: 0o644, Read: func() ([]byte, error) { return []byte("x"), nil }}}); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
	if b, err := p.root.ReadFile("tests/a"); err != nil || string(b) != "x" {
		t.Errorf("%q %v", b, err)
	}
	if err := p.remove(); err != nil {
		t.Error(err)
	}
}

// FuzzOutput reads arbitrary output and files of tests: nothing panics, and no text of go
// test is lost that is not JSON.
func FuzzOutput(f *testing.F) {
	f.Add("TAP version 13\n# Subtest: a\n    ok 1 - b\nok 1 - a\n# tests 2\n", "func TestA(t *testing.T) {\n}\n")
	f.Add(`{"Action":"output","Package":"m","Test":"T","Output":"x"}`+"\n", "def test_a():\n    pass\n")
	f.Add("test_a (t.T) ... ok\nRan 1 test in 0s\n", "test:\n\ttrue\ntest: test\n")
	f.Fuzz(func(t *testing.T, out, file string) {
		r := textReport(out)
		if r.Total.Ran() < 0 {
			t.Errorf("%+v", r)
		}
		var g goStream
		var l reportLine
		g.text([]byte(out))
		l.text([]byte(out))
		for _, name := range []string{"a_test.go", "a.py", "a.test.js", "a.rs"} {
			w := written{}
			w.read(name, []byte(file))
			compareWritten(w, written{}, languageOf(name))
		}
		_ = recipe(file, "test", map[string]bool{})
		_ = lineNature(file, noScript, 3)
		for _, of := range settings {
			of([]byte(file))
		}
		formerPackage([]byte(file), []byte(out))
	})
}
