package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"choiros/internal/eval"
	"choiros/internal/eval/evaltest"
	"choiros/internal/model/wiretest"
)

const shippedTasks = "../../eval/tasks"

// solving returns the rules of a model that writes files in a task and claims success.
func solving(t testing.TB, task eval.Task, write eval.Tree) []wiretest.Rule {
	t.Helper()
	rules, err := evaltest.Solve(task, write)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// connectScript starts a scripted model and makes it that of the machine's configuration.
func (m *machine) connectScript(rules []wiretest.Rule) *wiretest.Scripted {
	m.t.Helper()
	server := wiretest.NewScripted(wiretest.Script{Rules: rules})
	m.t.Cleanup(server.Close)
	m.env = append(m.env, "SCRIPTED_KEY=sk-test-0123456789")
	m.configure(fmt.Sprintf(`
[models]
director = "scripted/director"
associate = "scripted/associate"
[[models.provider]]
name = "scripted"
kind = "anthropic"
base_url = %q
key_env = "SCRIPTED_KEY"
free = true
`, server.URL))
	return server
}

// evalSet is a folder of tasks, and where its computers are made.
type evalSet struct {
	m         *machine
	dir, temp string
}

// newEvalSet returns a set with copies of shipped tasks.
func newEvalSet(t *testing.T, m *machine, shipped ...string) *evalSet {
	t.Helper()
	s := &evalSet{m: m, dir: filepath.Join(t.TempDir(), "set"), temp: filepath.Join(m.data, "..", "eval")}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.temp, 0o711); err != nil {
		t.Fatal(err)
	}
	for _, name := range shipped {
		if err := os.CopyFS(filepath.Join(s.dir, name), os.DirFS(filepath.Join(shippedTasks, name))); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// add writes a task of a few lines.
func (s *evalSet) add(name, toml string, base map[string]string) {
	s.m.t.Helper()
	base = maps.Clone(base)
	for path, content := range base {
		s.write(filepath.Join(name, "base", path), content)
	}
	s.write(filepath.Join(name, eval.TaskFile), toml)
}

func (s *evalSet) write(path, content string) {
	s.m.t.Helper()
	path = filepath.Join(s.dir, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		s.m.t.Fatal(err)
	}
}

// task returns a task of the set.
func (s *evalSet) task(name string) eval.Task {
	s.m.t.Helper()
	all, err := eval.Load(filepath.Join(s.dir, name), "")
	if err != nil {
		s.m.t.Fatal(err)
	}
	return all[0]
}

// run runs the set and returns the report and how the command ended.
func (s *evalSet) run(args ...string) (eval.Report, ran) {
	s.m.t.Helper()
	r := s.m.run(append([]string{"eval", s.dir, "--json", "--dir", s.temp}, args...)...)
	var report eval.Report
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		s.m.t.Fatalf("exit code %d, no report: %s%s", r.code, r.out, r.errOut)
	}
	s.nothingLeft()
	return report, r
}

// nothingLeft fails the test for each file, process and mount of the set's computers.
func (s *evalSet) nothingLeft() {
	s.m.t.Helper()
	if left, err := os.ReadDir(s.temp); err != nil || len(left) > 0 {
		s.m.t.Errorf("left behind: %v, %v", left, err)
	}
	here := *s.m
	here.data = s.temp
	for _, p := range here.processes() {
		s.m.t.Errorf("left behind: process %s", p)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), s.temp) {
		s.m.t.Errorf("left behind: a mount, %v", err)
	}
}

// outcome returns what became of one task.
func outcome(t *testing.T, r eval.Report, name string) eval.Outcome {
	t.Helper()
	i := slices.IndexFunc(r.Tasks, func(o eval.Outcome) bool { return o.Task == name })
	if i < 0 {
		t.Fatalf("the report has no task %s", name)
	}
	return r.Tasks[i]
}

// TestEvalBelievesTheHiddenCheckAlone has one task solved and one in which the model claims success falsely,
// with the project's own tests on its side; records both, plays them without the model, and compares.
func TestEvalBelievesTheHiddenCheckAlone(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "")
	s := newEvalSet(t, m, "py-ratelimit", "sh-rotate")
	s.add("done-before", "prompt = 'Nothing.'\ncheck = 'true'\n", map[string]string{"a": "a\n"})
	solved, err := eval.ReadTree(filepath.Join(shippedTasks, "py-ratelimit", eval.SolutionFolder))
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := eval.ReadTree(filepath.Join(shippedTasks, "sh-rotate", eval.BaseFolder))
	if err != nil {
		t.Fatal(err)
	}
	content := strings.Replace(string(wrong["bin/rotate"].Content), "mv $file $file.1", "mv \"$file\" \"$file.1\"", 1)
	rules := append(solving(t, s.task("py-ratelimit"), solved), solving(t, s.task("sh-rotate"), eval.Tree{"bin/rotate": {Content: []byte(content)}})...)
	server := m.connectScript(rules)
	records := filepath.Join(t.TempDir(), "recordings")
	first, r := s.run("--record", records)
	for _, u := range server.Unmatched() {
		t.Error("no rule for:", u)
	}
	checkBelief(t, first)
	if r.code != 0 || first.Against != nil {
		t.Errorf("the first time it ends with %d, against %+v", r.code, first.Against)
	}
	server.Close()

	played, r := s.run("--model-recording", records, "--only", "py-ratelimit,sh-rotate")
	checkBelief(t, played)
	if r.code != 0 || played.Against == nil || played.Against.Common != 2 || len(played.Against.Better)+len(played.Against.Worse) != 0 {
		t.Errorf("played, it ends with %d, against %+v\n%s", r.code, played.Against, r.errOut)
	}
	// Held against a better one it is worse, and says so with its exit code.
	better := first
	better.Tasks = slices.Clone(first.Tasks)
	for i := range better.Tasks {
		better.Tasks[i].Verdict = eval.Solved
	}
	file := filepath.Join(t.TempDir(), "better.json")
	if err := keepReport(file, better); err != nil {
		t.Fatal(err)
	}
	worse, r := s.run("--model-recording", records, "--only", "sh-rotate", "--against", file)
	if r.code != 1 || worse.Against == nil || !slices.Equal(worse.Against.Worse, []string{"sh-rotate"}) {
		t.Errorf("held against a better one it ends with %d, %+v\n%s", r.code, worse.Against, r.errOut)
	}
}

// checkBelief holds the outcomes of the two tasks against what really happened.
func checkBelief(t *testing.T, r eval.Report) {
	t.Helper()
	good, bad := outcome(t, r, "py-ratelimit"), outcome(t, r, "sh-rotate")
	if good.Verdict != eval.Solved || good.Said != "done" || !good.Verified || good.FalseClaim() {
		t.Errorf("the solved task is %+v", good)
	}
	if bad.Verdict != eval.Failed || bad.Said != "done" || !bad.Verified || !bad.FalseClaim() || !strings.Contains(bad.Why, "exit code 1") {
		t.Errorf("the false claim is %+v", bad)
	}
	for _, o := range []eval.Outcome{good, bad} {
		if o.Calls != evaltest.CallsPerTask || o.InputTokens != 5000 || o.OutputTokens != 500 || o.Seconds <= 0 {
			t.Errorf("the figures of %s are %+v", o.Task, o)
		}
	}
	if r.Sums.Solved != 1 || r.Sums.Failed != 1 || r.Sums.FalseClaims != 1 || r.Sums.UnverifiedClaims != 0 || r.Sums.PassRate != 0.5 || r.Sums.MedianCalls != 5 {
		t.Errorf("the sums are %+v", r.Sums)
	}
	if len(r.Tasks) == 3 {
		if o := outcome(t, r, "done-before"); o.Verdict != eval.Invalid || !strings.Contains(o.Why, "before anything") || r.Sums.Invalid != 1 {
			t.Errorf("a task that was solved before is %+v", o)
		}
	}
}

// TestEvalOfAnotherProgram runs a program in the agents' place: it calls a model through the gateway, and its
// figures are those of the log. A check that hangs after its change is ended; a program that fails keeps what it did.
func TestEvalOfAnotherProgram(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "")
	s := newEvalSet(t, m)
	base := map[string]string{"note.txt": "nothing\n"}
	s.add("asks", "prompt = 'Write what the model says.'\ncheck = 'grep -q pong note.txt'\n", base)
	s.add("hangs", "prompt = 'Hang.'\ncheck = 'grep -q nothing note.txt && exit 1; sleep 3000'\ncheck_seconds = 2\n", base)
	s.add("late", "prompt = 'Be late.'\ncheck = 'grep -q Be note.txt'\nseconds = 2\n", base)
	respond := &wiretest.Respond{Text: "pong"}
	respond.Usage.Input, respond.Usage.Output = 30, 7
	server := m.connectScript([]wiretest.Rule{{Match: wiretest.Match{First: "Write what"}, Respond: respond}})
	const program = `
prompt=$(cat)
test "$prompt" = "$1" || exit 9
case $prompt in Hang.) echo changed >note.txt; exit 0;; Be*) echo Be late >note.txt; sleep 3000;; esac
python3 - "$prompt" >note.txt <<'ask.py'
import json, os, sys, urllib.request
body = json.dumps({"model": "any", "max_tokens": 20, "messages": [{"role": "user", "content": sys.argv[1]}]}).encode()
ask = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body, {"content-type": "application/json", "x-api-key": "choir"})
print(json.load(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(ask))["content"][0]["text"])
ask.py
exit 3`
	report, r := s.run("--program", program)
	if r.code != 0 || report.Agent != program {
		t.Errorf("it ends with %d, of %q\n%s", r.code, report.Agent, r.errOut)
	}
	for _, u := range server.Unmatched() {
		t.Error("no rule for:", u)
	}
	if o := outcome(t, report, "asks"); o.Verdict != eval.Solved || o.Said != "exit 3" || o.Calls != 1 || o.InputTokens != 30 || o.OutputTokens != 7 || o.FalseClaim() {
		t.Errorf("the program that asks: %+v", o)
	}
	if o := outcome(t, report, "hangs"); o.Verdict != eval.Failed || o.Said != "done" || o.Calls != 0 {
		t.Errorf("the check that hangs: %+v", o)
	}
	if o := outcome(t, report, "late"); o.Verdict != eval.Solved || o.Said != "late" {
		t.Errorf("the program that is late: %+v", o)
	}
	if _, err := os.Stat(s.dir + ".program.last.json"); err != nil {
		t.Error(err)
	}
}

// TestEvalThatIsStoppedLeavesNothing interrupts it while a program works.
func TestEvalThatIsStoppedLeavesNothing(t *testing.T) {
	m := newMachine(t, "")
	s := newEvalSet(t, m)
	s.add("slow", "prompt = 'x'\ncheck = 'false'\n", map[string]string{"a": "a\n"})
	var out, errOut strings.Builder
	c := m.command(t.Context(), "eval", s.dir, "--dir", s.temp, "--program", "mkdir -p deep/er && chmod 0 deep; setsid sleep 4321 & sleep 4321")
	c.Stdout, c.Stderr = &out, &errOut
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	here := *m
	here.data = s.temp
	m.eventually("the program works", func() error {
		for _, p := range here.processes() {
			if _, command, _ := strings.Cut(p, " "); strings.TrimSpace(command) == "sleep 4321" {
				return nil
			}
		}
		return errors.New("it does not")
	})
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // its exit code is looked at
	if code := c.ProcessState.ExitCode(); code != 1 || !strings.Contains(errOut.String(), "stopped after 0 of 1 tasks") {
		t.Errorf("it ends with %d and says %s", code, &errOut)
	}
	s.nothingLeft()
	if _, err := os.Stat(s.dir + ".program.last.json"); err == nil {
		t.Error("a report was kept")
	}
}

// TestEvalOfPublishedInstances reads instances as SWE-bench publishes them, with a local clone: the computer
// has the base without its later history, and the tests of the instance decide.
func TestEvalOfPublishedInstances(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "")
	s := newEvalSet(t, m)
	repos := t.TempDir()
	clone := filepath.Join(repos, "owner__calc")
	put := func(path, content string) {
		if err := errors.Join(os.MkdirAll(clone, 0o755), os.WriteFile(filepath.Join(clone, path), []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	commit := func() string {
		gitIn(t, clone, "add", "-A")
		gitIn(t, clone, "-c", "user.name=T", "-c", "user.email=t@localhost", "commit", "-qm", "x")
		return strings.TrimSpace(gitIn(t, clone, "rev-parse", "HEAD"))
	}
	const zero = "import unittest\nimport calc\n\n\nclass T(unittest.TestCase):\n    def test_zero(self):\n        self.assertEqual(calc.add(0, 0), 0)\n"
	put("calc.py", "def add(a, b):\n    return a - b\n")
	put("test_calc.py", zero)
	gitIn(t, clone, "init", "-q", "-b", "main")
	at := commit()
	put("calc.py", "def add(a, b):\n    return a + b  # the secret\n")
	put("test_calc.py", zero+"\n    def test_add(self):\n        self.assertEqual(calc.add(1, 2), 3)\n")
	commit()
	patch := gitIn(t, clone, "diff", at, "HEAD", "--", "test_calc.py")
	line := func(id, fail string) string {
		raw, err := json.Marshal(map[string]any{
			"instance_id": id, "repo": "owner/calc", "base_commit": at, "problem_statement": "Add subtracts.", "test_patch": patch,
			"FAIL_TO_PASS": fail, "PASS_TO_PASS": []string{"test_calc.T.test_zero"}, "hints_text": "", "patch": "",
			"test_command": "python3 -m unittest $(cat .choir-eval-tests)",
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw) + "\n"
	}
	file := filepath.Join(s.dir, "lite.jsonl")
	if err := os.WriteFile(file, []byte(line("owner__calc-1", `["test_calc.T.test_add"]`)+line("owner__calc-2", `["test_calc.T.test_nobody"]`)), 0o644); err != nil {
		t.Fatal(err)
	}
	s.dir = file
	const program = `if git log --all -p | grep -q secret; then exit 7; fi
rm test_calc.py
sed -i 's/a - b/a + b/' calc.py`
	report, r := s.run("--repos", repos, "--program", program)
	if o := outcome(t, report, "owner__calc-1"); o.Verdict != eval.Solved || o.Said != "done" {
		t.Errorf("the instance is %+v\n%s", o, r.errOut)
	}
	// A test that nothing has does not count as passed.
	if o := outcome(t, report, "owner__calc-2"); o.Verdict != eval.Failed || !strings.Contains(o.Why, "test_nobody") {
		t.Errorf("the instance with a test that is not there is %+v", o)
	}
}

// solveShipped expects the check of a shipped task to fail on its base and to pass on its
// solution.
func solveShipped(t *testing.T, e *evaluation, task eval.Task) {
	base, _, err := e.baseOf(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := task.Hidden(base)
	if err != nil {
		t.Fatal(err)
	}
	solution, err := eval.Solution(filepath.Join(shippedTasks, task.Name))
	if err != nil {
		t.Fatal(err)
	}
	before, err := e.check(t.Context(), task, base.Over(hidden))
	if err != nil || before.passed {
		t.Errorf("the check passes on the base, %v", err)
	}
	after, err := e.check(t.Context(), task, solution.Over(hidden))
	if err != nil || !after.passed {
		t.Errorf("the check fails on the solution: %s, %v", after.said, err)
	}
}

// TestTheShippedTasksCanBeSolved holds each shipped task against its reference solution: the hidden check fails
// on the base and passes with the solution, both in the sandbox.
func TestTheShippedTasksCanBeSolved(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "")
	a := newApp()
	a.data = m.data
	tasks, err := eval.Load(shippedTasks, "")
	if err != nil {
		t.Fatal(err)
	}
	e, err := a.newEvaluation(evalOptions{dir: filepath.Dir(m.data)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.close(); err != nil {
			t.Error(err)
		}
	}()
	languages := map[string]bool{}
	for _, task := range tasks {
		languages[task.Language] = true
		t.Run(task.Name, func(t *testing.T) {
			if task.Language == "go" && os.Getenv(everyStep) == "" {
				t.Skipf("each check compiles Go's standard library anew, which takes a minute or more; %s=1 as in tools/soak.sh tries it", everyStep)
			}
			solveShipped(t, e, task)
		})
	}
	if len(tasks) < 8 || len(languages) < 4 {
		t.Errorf("there are %d tasks in %d languages", len(tasks), len(languages))
	}
}
