package eval

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"choiros/internal/choir"
)

func TestOver(t *testing.T) {
	base := Tree{"a": {Content: []byte("1")}, "d/b": {Content: []byte("2")}, "d/c": {Content: []byte("3")}, "f": {Content: []byte("4")}}
	got := base.Over(Tree{"a": {Content: []byte("9")}, "d/b": {Absent: true}, "f/g": {Content: []byte("5")}})
	want := Tree{"a": {Content: []byte("9")}, "d/c": {Content: []byte("3")}, "f/g": {Content: []byte("5")}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("it is %v, want %v", got, want)
	}
	if got := base.Over(Tree{"d": {Content: []byte("x")}}); len(got) != 3 {
		t.Errorf("a file in the place of a folder leaves %v", got)
	}
	if len(base) != 4 {
		t.Error("the base was changed")
	}
}

func TestATreeComesBackFromItsTar(t *testing.T) {
	dir := t.TempDir()
	for path, content := range map[string]string{"bin/run": "#!/bin/sh\n", "empty": "", ".git/config": "x"} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("bin/run", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	tree, err := ReadTree(dir)
	if err != nil || len(tree) != 3 || tree["link"].Target != "bin/run" || !tree["bin/run"].Exec {
		t.Fatalf("it reads %v, %v", tree, err)
	}
	var out bytes.Buffer
	if err := tree.WriteTar(&out, time.Unix(1000, 0)); err != nil {
		t.Fatal(err)
	}
	raw := out.Bytes()
	again, err := ReadTar(bytes.NewReader(raw), 100)
	if err != nil || !reflect.DeepEqual(again, tree) {
		t.Errorf("it comes back as %v, %v", again, err)
	}
	if _, err := ReadTar(bytes.NewReader(raw), 5); choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("above the limit: %v", err)
	}
	bad := Tree{"../out": {Content: []byte("x")}}
	out.Reset()
	if err := bad.WriteTar(&out, time.Unix(1000, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTar(&out, 100); choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("a path that leads out: %v", err)
	}
}

// FuzzReadTar: no tar leads out of the tree, and what was read is written and read again as it is.
func FuzzReadTar(f *testing.F) {
	var out bytes.Buffer
	if err := (Tree{"a/b": {Content: []byte("1")}, "l": {Target: "a"}}).WriteTar(&out, time.Unix(1000, 0)); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		tree, err := ReadTar(bytes.NewReader(raw), 1<<16)
		if err != nil {
			return
		}
		for path := range tree {
			if !filepath.IsLocal(path) {
				t.Errorf("it has the path %q", path)
			}
		}
	})
}

const instanceLine = `{"instance_id":"o__r-1","repo":"o/r","base_commit":"0123456789abcdef","problem_statement":"It breaks.",` +
	`"test_patch":"--- a/t.py\n+++ b/t.py\n@@ -1 +1 @@\n-x\n+y\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+z\n","FAIL_TO_PASS":"[\"t.py::test_a\"]","PASS_TO_PASS":["t.py::test_b[x y]"],"version":"1"}`

func TestInstances(t *testing.T) {
	repos := t.TempDir()
	if err := os.MkdirAll(filepath.Join(repos, "o", "r"), 0o755); err != nil {
		t.Fatal(err)
	}
	all, err := parseInstances(strings.NewReader(instanceLine+"\n\n"), repos)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	task := all[0]
	if task.Name != "o__r-1" || task.Clone.Path != filepath.Join(repos, "o", "r") || !strings.Contains(task.Check, "pytest") || !strings.Contains(task.Check, "git apply") {
		t.Errorf("the task is %+v", task)
	}
	hidden, err := task.Hidden(Tree{"t.py": {Content: []byte("x\n")}})
	if err != nil || string(hidden["t.py"].Content) != "x\n" || !hidden["new.py"].Absent || string(hidden[testsFile].Content) != "t.py::test_a\nt.py::test_b[x y]\n" {
		t.Errorf("hidden are %v, %v", hidden, err)
	}
	for line, reason := range map[string]string{
		`{`: "line 1",
		strings.Replace(instanceLine, "0123456789abcdef", "--upload-pack=x", 1): "base_commit",
		strings.Replace(instanceLine, `"o/r"`, `"../r"`, 1):                     "OWNER/NAME",
		strings.Replace(instanceLine, `"o/r"`, `"o/none"`, 1):                   "has no clone",
		strings.Replace(instanceLine, `"[\"t.py::test_a\"]"`, `"[]"`, 1):        "FAIL_TO_PASS",
		strings.Replace(instanceLine, "o__r-1", "o/r 1", 1):                     "name",
		"": "no instances",
	} {
		if _, err := parseInstances(strings.NewReader(line), repos); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%.60s: %v, want %q", line, err, reason)
		}
	}
}

// TestAnInstanceOfGoHasEachTestHeldToHaveRun: go test says ok of names that nothing has.
func TestAnInstanceOfGoHasEachTestHeldToHaveRun(t *testing.T) {
	if got := testCommand(instance{TestCommand: "make check"}, []string{"TestA"}); got != "make check" {
		t.Errorf("its own command is %s", got)
	}
	dir := t.TempDir()
	write := func(path, content string) {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.org/x\n\ngo 1.21\n")
	write("x_test.go", "package x\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Run(\"sub\", func(*testing.T) {}) }\n\nfunc TestB(t *testing.T) { t.Fatal() }\n")
	for names, passes := range map[string]bool{"TestA": true, "TestA TestA/sub": true, "TestA TestB": false, "TestA TestNobody": false, "TestA TestA/none": false} {
		tests := strings.Fields(names)
		write(testsFile, strings.Join(tests, "\n")+"\n")
		c := exec.Command("sh", "-c", testCommand(instance{}, tests))
		c.Dir = dir
		c.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
		if out, err := c.CombinedOutput(); (err == nil) != passes {
			t.Errorf("%s: %v\n%s", names, err, out)
		}
	}
}

func FuzzParseInstances(f *testing.F) {
	f.Add(instanceLine)
	f.Add(`{"FAIL_TO_PASS":"x"}`)
	repos := f.TempDir()
	if err := os.MkdirAll(filepath.Join(repos, "o__r"), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		all, err := parseInstances(strings.NewReader(raw), repos)
		if err != nil {
			return
		}
		for _, task := range all {
			rel, err := filepath.Rel(repos, task.Clone.Path)
			if err != nil || !filepath.IsLocal(rel) || task.Prompt == "" {
				t.Errorf("the task is %+v", task)
			}
		}
	})
}

func TestTasksOfAFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(path, content string) {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Load(dir, ""); choir.CodeOf(err) != choir.CodeNotFound {
		t.Errorf("an empty folder: %v", err)
	}
	write("README.md", "no task")
	write("b/task.toml", "prompt = 'Do it.'\ncheck = 'true'\nclone = '../c'\ncommit = 'abc'\n")
	write("a/task.toml", "prompt = 'Do it.'\ncheck = 'true'\nseconds = 5\n")
	write("a/base/x", "1")
	all, err := Load(dir, "")
	if err != nil || len(all) != 2 || all[0].Name != "a" || all[0].Limit != 5*time.Second || all[0].CheckLimit != DefaultCheckLimit || all[1].Clone.Path != filepath.Join(dir, "c") {
		t.Fatalf("%+v, %v", all, err)
	}
	if one, err := Load(filepath.Join(dir, "a"), ""); err != nil || len(one) != 1 {
		t.Errorf("one task: %v, %v", one, err)
	}
	for _, bad := range []string{"prompt = 'x'", "check = 'x'", "colour = 1", "prompt = 'x'\ncheck = 'y'\nclone = 'z'"} {
		write("c/task.toml", bad)
		if _, err := Load(dir, ""); err == nil {
			t.Errorf("%q is a task", bad)
		}
	}
}

func TestTheReport(t *testing.T) {
	now := []Outcome{
		{Task: "a", Verdict: Solved, Said: "done", Verified: true, Calls: 5, InputTokens: 100, OutputTokens: 10, CostUSD: 1, Seconds: 3},
		{Task: "b", Verdict: Failed, Said: "done", Verified: true, Calls: 9, InputTokens: 300, CostUSD: 2, Seconds: 5},
		{Task: "c", Verdict: Failed, Said: "done", Calls: 7, InputTokens: 200, Seconds: 4},
		{Task: "d", Verdict: Invalid, Why: "no"},
		{Task: "e", Verdict: Solved, Said: "done", Calls: 1},
	}
	s := Sum(now)
	want := Sums{Solved: 2, Failed: 2, Invalid: 1, PassRate: 0.5, FalseClaims: 1, UnverifiedClaims: 1, MedianCalls: 5, MedianTokens: 110, MedianSeconds: 3, Tokens: 610, CostUSD: 3}
	if s != want {
		t.Errorf("the sums are %+v, want %+v", s, want)
	}
	then := &Report{Agent: "peer", Tasks: []Outcome{{Task: "a", Verdict: Failed}, {Task: "b", Verdict: Solved}, {Task: "c", Verdict: Solved}, {Task: "d", Verdict: Solved}, {Task: "f", Verdict: Solved}}}
	c := Compare(now, then, "file")
	if c == nil || c.Common != 3 || !slices.Equal(c.Better, []string{"a"}) || !slices.Equal(c.Worse, []string{"b", "c"}) || !c.Fewer() {
		t.Errorf("the comparison is %+v", c)
	}
	r := Report{Tasks: now, Sums: s, Against: c}
	table := r.Table()
	for _, text := range []string{"done, verified (false)", "2 of 4 solved (50 %), 1 invalid; false claims: 1 verified, 1 not verified", "better", "against file (peer)", "d: no"} {
		if !strings.Contains(table, text) {
			t.Errorf("the table has no %q:\n%s", text, table)
		}
	}
	if Compare(now, &Report{Tasks: []Outcome{{Task: "x", Verdict: Solved}}}, "") != nil {
		t.Error("reports without a common task are compared")
	}
	if (*Comparison)(nil).Fewer() || Sum(nil) != (Sums{}) {
		t.Error("nothing is something")
	}
}
