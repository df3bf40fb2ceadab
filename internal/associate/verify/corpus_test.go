package verify_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"choiros/internal/associate/verify"
	"choiros/internal/choir"
)

// host runs the checks of a case on this machine.
type host struct {
	t     *testing.T
	root  string
	cache string
	plain bool     // it has no pytest
	runs  []string // the commands run, and "aside: " before those that are not in the result
}

func (h *host) Has(program string) bool {
	if strings.Contains(program, "/") {
		_, err := os.Stat(filepath.Join(h.root, program))
		return err == nil
	}
	_, err := exec.LookPath(program)
	return err == nil
}

func (h *host) HasModule(python, module string) bool {
	if module == "pytest" && h.plain {
		return false
	}
	cmd := exec.Command(python, "-c", "import "+module)
	cmd.Dir, cmd.Env = h.root, environment()
	return cmd.Run() == nil
}

// environment is that of commands, with the real interpreter in front of a chooser of
// versions, which takes longer than the tests.
var environment = sync.OnceValue(func() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GOFLAGS=") || strings.HasPrefix(v, "NODE_TEST") })
	env = append(env, "GOFLAGS=-vet=off -ldflags=-w")
	if out, err := exec.Command("python3", "-c", "import sys; print(sys.prefix, end='')").Output(); err == nil {
		env = append(env, "PATH="+string(out)+"/bin:"+os.Getenv("PATH"))
	}
	return env
})

func (h *host) Run(ctx context.Context, o verify.Order) (choir.CommandRun, []byte, error) {
	argv := o.Command.Argv
	if len(argv) == 0 {
		argv = []string{"/bin/sh", "-c", o.Command.Shell}
	}
	if o.Command.TimeoutS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(o.Command.TimeoutS)*time.Second)
		defer cancel()
	}
	if argv[0] == "python3" {
		argv = append([]string{"env"}, argv...) // it is looked for on the PATH of the environment
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = filepath.Join(o.Root, o.Command.Cwd)
	cmd.Env = slices.Clone(environment())
	for _, v := range append(verify.Env(h.cache), o.Command.Env...) {
		if v.Name != "GOCACHE" {
			cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
		}
	}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	begun := time.Now()
	err := cmd.Run()
	run := choir.CommandRun{Command: strings.TrimPrefix(strings.Join(argv, " "), "env "), ExitCode: cmd.ProcessState.ExitCode(), DurationMS: time.Since(begun).Milliseconds()}
	what := run.Command
	if o.Root != h.root {
		what = "aside: " + what
	}
	h.runs = append(h.runs, what)
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		h.t.Log(err)
		run.ExitCode = 127
	}
	text := out.Bytes()
	if o.Text != nil {
		text = o.Text(text)
	}
	return run, append(slices.Clone(text), errOut.Bytes()...), nil
}

// sample is a small project and a change to it.
type sample struct {
	name   string
	needs  string            // programs, space-separated
	base   map[string]string // files before
	change map[string]string // files after; "-" removes
	given  []string
	whole  bool // the root is a workspace
	mode   choir.VerifyMode
	status choir.VerifyStatus // of an innocent or a guilty one
	says   string             // in the log, the suspicions or what it proves
	judged string             // the files that judge it, space-separated
}

func (s sample) examine(t *testing.T) (verify.Verdict, *host) {
	t.Helper()
	return s.examineWith(t, nil)
}

func (s sample) examineWith(t *testing.T, memory *verify.Memory) (verify.Verdict, *host) {
	t.Helper()
	for _, p := range strings.Fields(s.needs) {
		if _, err := exec.LookPath(p); err != nil && p != "pytest" {
			t.Skipf("%s is not on this machine", p)
		}
		if p == "pytest" && exec.Command("python3", "-c", "import pytest").Run() != nil {
			t.Skip("pytest is not on this machine")
		}
	}
	root := t.TempDir()
	h := &host{t: t, root: root, cache: t.TempDir(), plain: !strings.Contains(s.needs, "pytest")}
	c := verify.Case{Root: root, Scratch: t.TempDir(), Base: choir.DigestOf([]byte(s.name)), Memory: memory, Whole: s.whole, Profile: choir.VerifyProfile{Mode: choir.VerifySmoke}}
	if s.mode != "" {
		c.Profile.Mode = s.mode
	}
	write := func(name, content string) {
		file := filepath.Join(root, name)
		if content == "-" {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			return
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range s.base {
		write(name, content)
	}
	for _, name := range slices.Sorted(maps.Keys(s.change)) {
		ch := verify.Changed{Path: name, Gone: s.change[name] == "-"}
		if was, ok := s.base[name]; ok {
			ch.Before = &verify.Former{Mode: 0o755, Read: func() ([]byte, error) { return []byte(was), nil }}
		}
		c.Changed = append(c.Changed, ch)
		write(name, s.change[name])
	}
	for _, line := range s.given {
		c.Profile.Commands = append(c.Profile.Commands, choir.Command{Shell: line})
	}
	v, err := verify.Examine(context.Background(), h, c)
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(c.Scratch); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
	return v, h
}

func says(v verify.Verdict, words string) bool {
	return strings.Contains(v.Log+"\n"+v.Proves+"\n"+strings.Join(v.Suspect, "\n"), words)
}

// some returns the samples, in a short run a fifth of them.
func some(all []sample) []sample {
	if !testing.Short() {
		return all
	}
	var few []sample
	for i := 0; i < len(all); i += 5 {
		few = append(few, all[i])
	}
	return few
}

// TestTheCorpus tries every trick and every innocent change.
func TestTheCorpus(t *testing.T) {
	var tried, caught, innocent, failed atomic.Int64
	t.Run("all", func(t *testing.T) {
		for _, s := range some(tricks()) {
			t.Run("trick "+s.name, func(t *testing.T) {
				t.Parallel()
				v, _ := s.examine(t)
				tried.Add(1)
				switch {
				case v.Status != choir.VerifyUnknown || len(v.Suspect) == 0 || v.Log == "":
					t.Errorf("%s, suspect %q, log %q", v.Status, v.Suspect, v.Log)
				case !says(v, s.says):
					t.Errorf("it says %q, not %q", v.Suspect, s.says)
				default:
					caught.Add(1)
				}
			})
		}
		for _, s := range some(innocents()) {
			t.Run("innocent "+s.name, func(t *testing.T) {
				t.Parallel()
				v, h := s.examine(t)
				innocent.Add(1)
				if v.Status == choir.VerifyFail {
					failed.Add(1)
				}
				if v.Status != s.status || len(v.Suspect) > 0 || !says(v, s.says) || s.judged != "" && s.judged != strings.Join(v.JudgedBy, " ") {
					t.Errorf("%s, suspect %q, log %q, proves %q, judged by %q, runs %q\n%s", v.Status, v.Suspect, v.Log, v.Proves, v.JudgedBy, h.runs, v.Output)
				}
			})
		}
	})
	t.Logf("%d tricks tried, %d caught; %d innocents, %d failed", tried.Load(), caught.Load(), innocent.Load(), failed.Load())
}

// TestABrokenChangeFails holds that what is forgiven to the innocent saves nobody else.
func TestABrokenChangeFails(t *testing.T) {
	for _, s := range guilty() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			v, _ := s.examine(t)
			if v.Status != choir.VerifyFail || v.Failed == nil || !says(v, s.says) {
				t.Errorf("%s, log %q, suspect %q\n%s", v.Status, v.Log, v.Suspect, v.Output)
			}
		})
	}
}

// TestNoSuiteRunsWithoutNeed counts the runs of suites.
func TestNoSuiteRunsWithoutNeed(t *testing.T) {
	t.Parallel()
	file := func(name, content string) map[string]string { return map[string]string{name: content} }
	memory := &verify.Memory{}
	for _, c := range []struct {
		sample sample
		runs   string
	}{
		{sample{name: "it passes", change: file("sum.sh", "echo $(($2 + $1))\n")}, "make test; aside: make test"}, // the second without the project
		{sample{name: "a new file", change: file("tests/more", "1\n")}, "make test; aside: make test"},
		{sample{name: "it fails", change: makeBroken}, "make test; aside: make test"},
		{sample{name: "it fails", change: makeBroken}, "make test"},
		{sample{name: "given, fails", given: []string{"sh check.sh"}, change: makeBroken}, "sh check.sh"},
		{sample{name: "other tests", change: file("check.sh", "test \"$(sh sum.sh 1 1)\" = 2\n")}, "make test; aside: make test; aside: make test"},
	} {
		c.sample.needs, c.sample.base = "make", makeBase
		_, h := c.sample.examineWith(t, memory)
		if got := strings.Join(h.runs, "; "); got != c.runs {
			t.Errorf("%s: %s, want %s", c.sample.name, got, c.runs)
		}
	}
}

// with returns the files of all, the later ones over the earlier ones.
func with(all ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, files := range all {
		maps.Copy(out, files)
	}
	return out
}
