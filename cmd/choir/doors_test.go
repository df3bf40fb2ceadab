package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/eventstore"
)

// TestTheCommandLineRefuses shows every exit code for a wrong word, with the
// cause and what to do about it.
func TestTheCommandLineRefuses(t *testing.T) {
	o := openOffice(t)
	var views []api.ComputerView
	if err := o.c.get(t.Context(), "/api/computers", &views); err != nil {
		t.Fatal(err)
	}
	nobody := "01a1fc4c-31e2-7630-837e-fd5776ddd111"
	for _, c := range []struct {
		name   string
		args   []string
		exit   int
		code   choir.Code
		reason string
	}{
		{"an unknown verb", []string{"fly"}, 2, choir.CodeInvalid, "no verb of choir"},
		{"an unknown verb of repo", []string{"repo", "fly"}, 2, choir.CodeInvalid, "no verb of choir repo"},
		{"an unknown flag", []string{"log", "--loud"}, 2, choir.CodeInvalid, "no flag of choir log"},
		{"a flag of another kind", []string{"log", "--after", "x"}, 2, choir.CodeInvalid, "a whole number"},
		{"two of one kind", []string{"log", "--verify", "--follow"}, 2, choir.CodeInvalid, "together with --follow"},
		{"too many words", []string{"doctor", "x"}, 2, choir.CodeInvalid, "choir doctor takes no argument"},
		{"a comparison of computers at an event", []string{"diff", "40", "--with", "x"}, 2, choir.CodeInvalid, "takes no event"},
		{"a long prompt", []string{"prompt", strings.Repeat("x", 20_001)}, 2, choir.CodeTooLarge, "text"},
		{"an empty prompt", []string{"prompt", ""}, 2, choir.CodeInvalid, "text"},
		{"a project that is not there", []string{"prompt", "--repo", "nowhere", "x"}, 1, choir.CodeNotFound, "nowhere"},
		{"a run that is not there to be followed up", []string{"prompt", "--after", "nowhere", "x"}, 1, choir.CodeNotFound, "nowhere"},
		{"an unknown run", []string{"run", nobody}, 1, choir.CodeNotFound, nobody},
		{"an id that is none", []string{"run", "x"}, 2, choir.CodeInvalid, "no verb of choir run, nor the id of a run"},
		{"stop an unknown run", []string{"run", nobody, "--cancel"}, 1, choir.CodeNotFound, nobody},
		{"pause an unknown run", []string{"run", "pause", nobody}, 1, choir.CodeNotFound, nobody},
		{"let an unknown run go on", []string{"run", "resume", nobody}, 1, choir.CodeNotFound, nobody},
		{"the commands of an unknown run", []string{"run", "commands", nobody}, 1, choir.CodeNotFound, nobody},
		{"end an unknown command", []string{"run", "commands", "--end", nobody}, 1, choir.CodeNotFound, nobody},
		{"stop no run in particular", []string{"run", "--cancel"}, 2, choir.CodeInvalid, "which run"},
		{"a task file that is not there", []string{"task", "/nowhere.json"}, 1, choir.CodeNotFound, "/nowhere.json"},
		{"an event that is none", []string{"diff", "x"}, 2, choir.CodeInvalid, "EVENT"},
		{"the future", []string{"diff", "999999"}, 1, choir.CodeNotFound, "999999"},
		{"rewind to nowhere", []string{"rewind"}, 2, choir.CodeInvalid, "is missing"},
		{"an unknown checkpoint", []string{"rewind", "--checkpoint", nobody}, 1, choir.CodeNotFound, ""},
		{"a set of tasks that is not there", []string{"eval", "/nowhere"}, 1, choir.CodeNotFound, "/nowhere"},
		{"a set without tasks", []string{"eval", "/proc/self/task"}, 1, choir.CodeNotFound, "has no tasks"},
		{"an unknown benchmark", []string{"bench", "fly"}, 2, choir.CodeInvalid, ""},
	} {
		t.Run(c.name, func(t *testing.T) { o.in(t).refuses(t, c.exit, c.code, c.reason, c.args...) })
	}
	t.Run("a busy port", func(t *testing.T) {
		other := newMachine(t, "")
		other.write("[listen]\naddress = '127.0.0.1:" + o.port() + "'\n")
		other.refuses(t, 5, choir.CodeUnavailable, "cannot listen on", "up")
	})
	t.Run("the configuration", func(t *testing.T) {
		other := newMachine(t, "")
		for text, reason := range map[string]string{
			"[listen\n":                    "choir.toml",
			"[listen]\ncolour = 1\n":       "listen.colour",
			"[limits]\nrun_steps = -1\n":   "limits.run_steps",
			"[runtime]\nmode = 'magic'\n":  "runtime.mode",
			"[listen]\naddress = 'what'\n": "listen.address",
		} {
			other.write(text)
			other.in(t).refuses(t, 2, choir.CodeInvalid, reason, "doctor")
		}
	})
}

// TestEveryVerbSaysWhatIsMissing: choir diff and choir prompt alone were answered in the
// words of the library that reads the command line. A verb whose argument is empty
// here needs none.
func TestEveryVerbSaysWhatIsMissing(t *testing.T) {
	verbs := map[string]string{
		"prompt": "TEXT", "task": "FILE", "undo": "RUN|TASK|CALL", "diff": "FROM", "rewind": "EVENT", "fork": "--name", "image": "", "image build": "--out", "take": "--from",
		"timeline show": "EVENT", "timeline ls": "EVENT", "timeline cat": "EVENT", "timeline cat 40": "FILE", "repo add": "PATH", "repo export": "NAME",
		"trash restore": "ID", "trash drop": "ID", "export": "FILE", "import": "FILE", "bench": "NAME", "eval": "FOLDER",
		"egress grant": "HOST", "egress deny": "HOST", "egress revoke": "HOST", "egress": "", "egress mode": "MODE", "egress remove": "HOST", "egress restore": "HOST", "egress reload": "",
		"approvals": "", "approve": "TASK", "refuse": "TASK",
		"vault": "", "vault set": "NAME", "vault remove": "NAME", "vault list": "", "vault rotate": "",
		"up": "", "doctor": "", "repo": "", "repo list": "", "run": "", "run pause": "ID", "run resume": "ID", "run commands": "", "log": "", "timeline": "", "timeline gc": "", "checkpoint": "",
		"trash": "", "model": "", "model test": "", "computers": "", "demo": "", "metrics": "", "metrics token": "", "version": "",
	}
	var all func(c *cobra.Command)
	all = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			all(sub)
			if _, verb, _ := strings.Cut(sub.CommandPath(), " "); !has(verbs, verb) {
				t.Errorf("choir %s is not tried", verb)
			}
		}
	}
	all(newRootCommand(newApp()))
	for verb, argument := range verbs {
		if argument == "" {
			continue
		}
		for _, json := range []bool{false, true} {
			var out, said strings.Builder
			a := &app{printer: newPrinter(newConsole(&out, &said), func(string) string { return "" })}
			args := append(strings.Fields(verb), "--data", t.TempDir())
			if json {
				args = append(args, "--json")
			}
			if code := execute(t.Context(), args, a); code != 2 {
				t.Errorf("choir %s ends with %d", verb, code)
			}
			path := "choir " + strings.TrimSuffix(verb, " 40")
			what := regexp.MustCompile("^choir: " + regexp.QuoteMeta(argument) + " is missing: [a-z].+\n  for example: .*" + path + " .+\n$")
			if !what.MatchString(said.String()) || strings.Contains(said.String(), "arg(s)") || json == (out.Len() == 0) {
				t.Errorf("choir %s says %q and prints %q", verb, said.String(), out.String())
			}
		}
	}
}

func has(verbs map[string]string, verb string) bool {
	_, known := verbs[verb]
	return known
}

// in is the same machine in the hands of a part of the test.
func (m *machine) in(t *testing.T) *machine {
	c := *m
	c.t = t
	return &c
}

// write replaces the configuration.
func (m *machine) write(text string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.data, "choir.toml"), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// port is the one in the configuration.
func (m *machine) port() string {
	m.t.Helper()
	raw, err := os.ReadFile(filepath.Join(m.data, "choir.toml"))
	if err != nil {
		m.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "127.0.0.1:")
	port, _, _ := strings.Cut(rest, "'")
	return port
}

// TestReadingWithoutAChoir reads the folder when none runs, and each verb says
// the same as when one does. Every --json parses.
func TestReadingWithoutAChoir(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "")
	r := m.up()
	c := m.client()
	r.healthy()
	o := &office{m, c, 0}
	o.add(t, "plain", files{"a.txt": "a\n"})
	first := o.ends(t, shellTask("edit_repo", "plain", "echo b >> a.txt", noVerify), 0, choir.StatusOK, "")
	head := len(c.log(t))
	reading := [][]string{{"log"}, {"timeline"}, {"run"}, {"repo", "list"}, {"diff", fmt.Sprint(head - 5), fmt.Sprint(head)}, {"timeline", "ls", fmt.Sprint(head)}}
	alive := map[string]string{}
	for _, args := range reading {
		alive[strings.Join(args, " ")] = m.must(append(args, "--json")...)
		m.must(args...)
	}
	r.stop()
	for _, args := range reading {
		got := m.must(append(args, "--json")...)
		mustBeJSON(t, args, got)
		if was := alive[strings.Join(args, " ")]; !strings.HasPrefix(got, was) {
			t.Errorf("choir %v without a choir:\n%s\nwith one:\n%s", args, got, was)
		}
	}
	for _, args := range [][]string{{"version", "--json"}, {"doctor", "--json"}, {"log", "--verify", "--json"}, {"checkpoint", "--json"}, {"rewind", fmt.Sprint(head), "--dry-run", "--json"}} {
		mustBeJSON(t, args, m.must(args...))
	}
	task, _ := o.task(t, shellTask("run", "plain", "cat a.txt", ""))
	if len(task.CommandsRun) != 1 || task.CommandsRun[0].StdoutTail != "a\nb\n" || first.Checkpoint == nil {
		t.Errorf("a choir started for one command ran %+v", task.CommandsRun)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := m.must("completion", shell); !strings.Contains(out, "choir") {
			t.Errorf("completion for %s is %q", shell, out)
		}
	}
	if out := m.must("--help"); !strings.Contains(out, "Exit codes") {
		t.Errorf("the help does not tell exit codes:\n%s", out)
	}
}

// mustBeJSON holds each line against JSON.
func mustBeJSON(t *testing.T, args []string, out string) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(out))
	lines.Buffer(nil, 16<<20)
	n := 0
	for ; lines.Scan(); n++ {
		if !json.Valid(lines.Bytes()) {
			t.Errorf("choir %v prints %q", args, lines.Text())
		}
	}
	if n == 0 {
		t.Errorf("choir %v prints nothing", args)
	}
}

func TestADoctorWithoutBubblewrap(t *testing.T) {
	m := newMachine(t, "")
	m.env = []string{"PATH=" + t.TempDir()}
	r := m.run("doctor")
	if r.code != 5 || !strings.Contains(r.errOut, "cannot isolate a sandbox") || !strings.Contains(r.out, "bubblewrap") || !strings.Contains(r.out, "try: ") {
		t.Errorf("exit code %d\n%s%s", r.code, r.out, r.errOut)
	}
	m.refuses(t, 5, choir.CodeUnavailable, "bubblewrap", "up")
	if _, err := os.Stat(filepath.Join(m.data, socketName)); err == nil {
		t.Error("the socket is left behind")
	}
}

// TestTheDoctorSaysWhichBrowsersHoldPages: what holds pages is no part of choir.
func TestTheDoctorSaysWhichBrowsersHoldPages(t *testing.T) {
	out := newMachine(t, "").must("doctor")
	if !strings.Contains(out, "Chromium from version 156 on holds them to their computer, Firefox and Safari do not hold WebRTC back") {
		t.Errorf("doctor says nothing of it:\n%s", out)
	}
}

func TestFollowingTheLog(t *testing.T) {
	m := newMachine(t, "")
	r := m.up()
	r.healthy()
	head := len(m.client().log(t))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := m.command(ctx, "log", "--follow", "--json", "--after", fmt.Sprint(head))
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan choir.Event, 100)
	go func() {
		defer close(seen)
		//lint:ignore scannererr the kill below ends the reading, with whichever error
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e choir.Event
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				seen <- e
			}
		}
	}()
	m.must("checkpoint", "-m", "followed")
	for e := range seen {
		if e.Type == "task.returned" {
			break
		}
	}
	cancel()
	// It was killed by us.
	_ = c.Wait()
	if ctx.Err() == context.DeadlineExceeded {
		t.Error("the checkpoint was not seen")
	}
}

// TestAFlippedByteIsRepaired damages the journal on disk under a choir that is
// stopped, and under one that runs.
func TestAFlippedByteIsRepaired(t *testing.T) {
	m := newMachine(t, "")
	m.must("checkpoint", "-m", "something in the log")
	before := m.must("log", "--json")
	for _, running := range []bool{false, true} {
		t.Run(fmt.Sprintf("running %v", running), func(t *testing.T) {
			m := m.in(t)
			if running {
				m.up().healthy()
			}
			m.flip(`"computer.created"`)
			var report eventstore.Report
			if err := json.Unmarshal([]byte(m.must("log", "--repair", "--json")), &report); err != nil {
				t.Fatal(err)
			}
			if len(report.Repaired) != 1 || report.Repaired[0].Copy != "journal" || report.Repaired[0].From != 1 || len(report.Holes) > 0 {
				t.Errorf("it says %+v", report)
			}
			if after := m.must("log", "--json"); !strings.HasPrefix(after, before) {
				t.Errorf("the log was\n%s\nis\n%s", before, after)
			}
			if err := json.Unmarshal([]byte(m.must("log", "--verify", "--json")), &report); err != nil || len(report.Holes) > 0 {
				t.Errorf("verified again: %+v, %v", report, err)
			}
		})
	}
}

// flip changes one byte of the journal, where the text is.
func (m *machine) flip(text string) {
	m.t.Helper()
	found, err := filepath.Glob(filepath.Join(m.data, "computers/*/journal/*"))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, path := range found {
		raw, err := os.ReadFile(path)
		if err != nil {
			m.t.Fatal(err)
		}
		at := bytes.Index(raw, []byte(text))
		if at < 0 {
			continue
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteAt([]byte{raw[at+3] ^ 1}, int64(at+3))
		}
		if err != nil {
			m.t.Fatal(err)
		}
		f.Close()
		return
	}
	m.t.Fatalf("the journal has no %s", text)
}
