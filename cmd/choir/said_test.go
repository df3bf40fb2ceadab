package main

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"choiros/internal/eval"
	"choiros/internal/model"
	"choiros/internal/model/wiretest"
)

// saidRuns has recordings of runs whose words a model really said; docs/EVAL.md says which and when.
const saidRuns = "../../eval/said"

var sayAgain = flag.Bool("say-again", false, "have the recorded words said to the requests of this build, and record them anew")

// ending is how a recorded run ends.
type ending struct {
	said     string
	verified bool
	verdict  eval.Verdict
	calls    int64
}

// TestTheRunsThatWereSaidEndAsTheyDid plays each recording against real agents, sandboxes and checks. A request
// that differs from the recorded one ends its run; after a change of prompts or tools that is meant, run it
// once with -say-again and look at the differences of what it writes.
func TestTheRunsThatWereSaidEndAsTheyDid(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "")
	s := &evalSet{m: m, dir: saidRuns, temp: filepath.Join(m.data, "..", "eval")}
	if err := os.Mkdir(s.temp, 0o711); err != nil {
		t.Fatal(err)
	}
	recordings := unpackSaid(t)
	if *sayAgain {
		saySaidAgain(t, s, recordings)
	}
	report, r := s.run("--model-recording", recordings, "--keep", filepath.Join(t.TempDir(), "report.json"))
	if r.code != 0 {
		t.Errorf("it ends with %d: %s", r.code, r.errOut)
	}
	want := map[string]ending{
		"c-words":    {"done", true, eval.Solved, 8},      // looked at first, with a plan that is changed
		"js-options": {"waiting", false, eval.Failed, 2},  // a question
		"py-ledger":  {"done", true, eval.Solved, 7},      // a failing check that is mended
		"sh-greet":   {"not_done", false, eval.Failed, 2}, // a refusal
	}
	if len(report.Tasks) != len(want) {
		t.Errorf("there are %d runs, not %d", len(report.Tasks), len(want))
	}
	for _, o := range report.Tasks {
		if got := (ending{o.Said, o.Verified, o.Verdict, o.Calls}); got != want[o.Task] {
			t.Errorf("%s ends as %+v, not %+v\n%s", o.Task, got, want[o.Task], o.Why)
		}
	}
}

// unpackSaid returns a folder with the recordings as choir eval plays them.
func unpackSaid(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	packed, err := filepath.Glob(filepath.Join(saidRuns, "*", "said.jsonl.gz"))
	if err != nil || len(packed) == 0 {
		t.Fatal("there are no recordings", err)
	}
	for _, path := range packed {
		raw := unpack(t, path)
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(filepath.Dir(path))+".jsonl"), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// unpack returns the content of a compressed file.
func unpack(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // it is only read
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(path, err)
	}
	return raw
}

// saySaidAgain has the words of the recordings said to this build, each in its turn, and puts what is recorded
// in the place of the recordings, in dir and in the source.
func saySaidAgain(t *testing.T, s *evalSet, dir string) {
	t.Helper()
	var rules []wiretest.Rule
	recorded, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range recorded {
		rules = append(rules, rulesOf(t, path)...)
	}
	server := s.m.connectScript(rules)
	s.run("--record", dir, "--keep", filepath.Join(t.TempDir(), "report.json"))
	for _, u := range server.Unmatched() {
		t.Error("no rule for:", u)
	}
	for _, path := range recorded {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if _, err := z.Write(raw); cmp.Or(err, z.Close()) != nil {
			t.Fatal(err)
		}
		to := filepath.Join(saidRuns, strings.TrimSuffix(filepath.Base(path), ".jsonl"), "said.jsonl.gz")
		if err := os.WriteFile(to, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// rulesOf returns a rule for each answer of a recording: it is said at the same turn of the conversation that
// begins the same.
func rulesOf(t *testing.T, path string) (rules []wiretest.Rule) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var e struct {
			Caller   string
			Request  model.Request
			Response struct{ Final model.Response }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Caller == "" {
			continue // the head or the end
		}
		first, _, _ := strings.Cut(e.Request.Messages[0].Content[0].Text, "\n\nIt ")
		rule := wiretest.Rule{Match: wiretest.Match{Caller: e.Caller, First: first, Turn: len(e.Request.Messages)/2 + 1}, Respond: &wiretest.Respond{}}
		for _, b := range e.Response.Final.Content {
			if b.Kind == model.Text {
				rule.Respond.Text += b.Text
				continue
			}
			rule.Respond.ToolCalls = append(rule.Respond.ToolCalls, wiretest.Call{ID: b.CallID, Name: b.Tool, Input: b.Input})
		}
		rules = append(rules, rule)
	}
	return rules
}
