package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/choir"
	"choiros/internal/model"
	"choiros/internal/model/modeltest"
	"choiros/internal/model/replay"
)

func TestProvider(t *testing.T) {
	modeltest.Run(t, modeltest.Harness{
		Answering: func(t *testing.T, req model.Request, resp model.Response) model.Provider {
			return play(t, record(t, exchange{"", req, resp}))
		},
	})
}

const (
	runThen, runNow = "01939b3e-7c00-7000-8000-0000000000aa", "01939b3e-7d00-7000-9000-0000000000bb"
	hashThen        = "1111111111111111111111111111111111111111"
	hashNow         = "2222222222222222222222222222222222222222"
)

// conversation is two exchanges of a caller in a run: it reads a file and runs
// the tests. now makes the same of another run, another time and machine.
func conversation(caller string, now bool) []exchange {
	run, when, took, folder, hash := runThen, "2026-11-21T02:28:00.000Z", "0.123s", "/tmp/build-1", hashThen
	if now {
		run, when, took, folder, hash = runNow, "2027-01-01T00:00:00.000Z", "12 ms", "/tmp/xyz", hashNow
	}
	first := model.Request{Model: "m", MaxTokens: 10, System: "You are the " + caller + " of run " + run + ".", Messages: []model.Message{
		{Role: model.User, Content: []model.Block{{Kind: model.Text, Text: "It is " + when + ". Fix ‹id-1›."}}},
	}}
	calls := model.Response{Model: "m", Stop: model.StopTool, Content: []model.Block{
		{Kind: model.Text, Text: "In run " + run + " I look; ‹id-1› stays."},
		{Kind: model.ToolCall, CallID: "toolu_1", Tool: "read_file", Input: json.RawMessage(`{"path":"a.go","run":"` + run + `"}`)},
		{Kind: model.ToolCall, CallID: "toolu_2", Tool: "bash", Input: json.RawMessage(`{"command":"go test"}`)},
	}}
	second := first
	second.Messages = append(second.Messages[:1:1],
		model.Message{Role: model.Assistant, Content: calls.Content},
		model.Message{Role: model.User, Content: []model.Block{
			{Kind: model.ToolResult, CallID: "toolu_1", Text: "package a // 5 s, 2020-01-01T00:00:00Z, " + strings.Repeat("0", 40) + "\n"},
			{Kind: model.ToolResult, CallID: "toolu_2", Text: "ok a (" + took + ") in " + folder + "/x\ncommit " + hash + "\n"},
		}})
	done := model.Response{Model: "m", Stop: model.StopEnd, Content: []model.Block{{Kind: model.Text, Text: "Done in " + hash + ", see " + folder + "/x."}}}
	return []exchange{{caller, first, calls}, {caller, second, done}}
}

func TestTheSameRunAtAnotherTimeIsServedWithItsOwnIds(t *testing.T) {
	rec := record(t, conversation("associate", false)...)
	p := play(t, rec)
	for i, e := range conversation("associate", true) {
		resp, err := ask(t, p, runNow, e)
		if err != nil {
			t.Fatalf("exchange %d: %v", i, err)
		}
		want := e.resp
		want.Usage.FromRecord = true
		if diff := cmp.Diff(want, resp); diff != "" {
			t.Errorf("exchange %d (-want +got):\n%s", i, diff)
		}
	}
	if bytes.Contains(rec, []byte(runThen)) || bytes.Contains(rec, []byte(hashThen)) {
		t.Error("the recording holds ids of the run it was made in")
	}
}

// wantUnmatched expects a refusal whose diff holds the words.
func wantUnmatched(t *testing.T, err error, words ...string) {
	t.Helper()
	if choir.CodeOf(err) != choir.CodeUnmatched {
		t.Fatalf("the error is %v, want code unmatched", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the refusal does not say %q:\n%v", w, err)
		}
	}
}

func TestOneChangeIsRefusedWithADiff(t *testing.T) {
	rec := record(t, conversation("associate", false)...)
	for name, c := range map[string]struct {
		change func(*model.Request)
		says   []string
	}{
		"a tool's result":      {result(1, "ok a", "FAIL a"), []string{"-  ok a", "+  FAIL a", "‹folder-1›/x"}},
		"a file's content":     {result(0, "package a", "package b"), []string{"-  package a", "+  package b"}},
		"a number in a file":   {result(0, "5 s", "6 s"), []string{"+  package a // 6 s"}},
		"a time in a file":     {result(0, "2020-01-01T", "2021-01-01T"), nil},
		"a hash in a file":     {result(0, "0000\n", "0001\n"), nil},
		"the order of results": {func(r *model.Request) { c := r.Messages[2].Content; c[0], c[1] = c[1], c[0] }, nil},
		"the model":            {func(r *model.Request) { r.Model = "n" }, []string{"-model m", "+model n"}},
		"the system prompt":    {func(r *model.Request) { r.System += " Be quick." }, []string{"Be quick."}},
		"the tools": {func(r *model.Request) {
			r.Tools = []model.ToolDef{{Name: "x", Schema: json.RawMessage(`{}`)}}
		}, []string{"+tool x"}},
		"one message more": {func(r *model.Request) {
			r.Messages = append(r.Messages, model.Message{Role: model.User, Content: []model.Block{{Kind: model.Text, Text: "and?"}}})
		}, []string{"+  and?"}},
		"an error mark": {func(r *model.Request) { r.Messages[2].Content[0].IsError = true }, nil},
		"a call's input": {func(r *model.Request) {
			r.Messages[1].Content[2].Input = json.RawMessage(`{"command":"go vet"}`)
		}, []string{"go vet"}},
		"a mark as text": {result(1, "/tmp/xyz", "‹folder-1›"), nil},
		"which id it was": {func(r *model.Request) {
			r.Messages[1].Content[0].Text = "In run " + runThen + " I look; ‹id-1› stays."
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, rec)
			now := conversation("associate", true)
			if _, err := ask(t, p, runNow, now[0]); err != nil {
				t.Fatal(err)
			}
			c.change(&now[1].req)
			_, err := ask(t, p, runNow, now[1])
			wantUnmatched(t, err, c.says...)
		})
	}
}

// result changes the text of a tool's result.
func result(n int, from, to string) func(*model.Request) {
	return func(r *model.Request) {
		b := &r.Messages[2].Content[n]
		if !strings.Contains(b.Text, from) {
			panic("nothing to change: " + from)
		}
		b.Text = strings.ReplaceAll(b.Text, from, to)
	}
}

func TestOrderAloneSelectsNothing(t *testing.T) {
	rec := record(t, conversation("director", false)...)
	now := conversation("director", true)
	p := play(t, rec)
	_, err := ask(t, p, runNow, now[1])
	wantUnmatched(t, err, "exchange 1")
	if _, err := ask(t, p, runNow, now[0]); err != nil {
		t.Errorf("a refusal moved the stream: %v", err)
	}
	_, err = ask(t, p, runNow, exchange{"associate", now[1].req, now[1].resp})
	wantUnmatched(t, err, "associate")
}

func TestWhatWasServedMayBeAskedAgain(t *testing.T) {
	rec := record(t, conversation("director", false)...)
	now := conversation("director", true)
	p := play(t, rec)
	for _, e := range []exchange{now[0], now[0], now[1], now[0], now[1]} {
		if _, err := ask(t, p, runNow, e); err != nil {
			t.Fatal(err)
		}
	}
	more := now[1]
	more.req.MaxTokens++
	_, err := ask(t, p, runNow, more)
	wantUnmatched(t, err, "after the last of its 2")
	if _, err := ask(t, p, runThen, now[0]); err != nil {
		t.Errorf("another run does not begin at the beginning: %v", err)
	}
}

func TestAfterARestartTheStreamGoesOnWhereTheLogEnds(t *testing.T) {
	rec := record(t, conversation("director", false)...)
	now := conversation("director", true)
	p := play(t, rec)
	p.Resume(info(runNow, "director"), now[0].req)
	if _, err := ask(t, p, runNow, now[1]); err != nil {
		t.Fatal(err)
	}
}

func TestAPacedAnswerTakesTheTimeOfAReader(t *testing.T) {
	rec, err := replay.Load(bytes.NewReader(record(t, conversation("director", false)...)))
	if err != nil {
		t.Fatal(err)
	}
	now := conversation("director", true)
	var waits []time.Duration
	p := replay.Paced(rec, func(ctx context.Context, d time.Duration) error {
		waits = append(waits, d)
		return ctx.Err()
	})
	if _, err := ask(t, p, runNow, now[0]); err != nil {
		t.Fatal(err)
	}
	var all time.Duration
	for _, d := range waits {
		all += d
	}
	if len(waits) < 2 || waits[0] < time.Second || all < waits[0] || all > 10*time.Second {
		t.Errorf("it waited %v", waits)
	}
	ctx, stop := context.WithCancel(model.WithInfo(t.Context(), info(runNow, "director")))
	stopped := replay.Paced(rec, func(ctx context.Context, _ time.Duration) error { stop(); return ctx.Err() })
	if _, err := stopped.Stream(ctx, now[0].req, nil); choir.CodeOf(err) != choir.CodeCancelled {
		t.Errorf("stopped while it waits: %v", err)
	}
	if _, err := ask(t, stopped, runNow, now[0]); err != nil {
		t.Errorf("the call that was stopped cannot be made again: %v", err)
	}
}

func TestEveryByteIsVerified(t *testing.T) {
	rec := record(t, conversation("director", false)...)
	lines := bytes.Count(rec, []byte("\n"))
	for i := range rec {
		damaged := bytes.Clone(rec)
		damaged[i] ^= 1
		_, err := replay.Load(bytes.NewReader(damaged))
		line := bytes.Count(rec[:i], []byte("\n")) + 1
		if code := choir.CodeOf(err); code != choir.CodeCorrupt {
			t.Fatalf("byte %d of line %d changed: %v", i, line, err)
		}
		if want := " line "; !strings.Contains(err.Error(), want) {
			t.Fatalf("byte %d: no line is named: %v", i, err)
		}
	}
	for i := range rec {
		if _, err := replay.Load(bytes.NewReader(rec[:i])); choir.CodeOf(err) != choir.CodeCorrupt {
			t.Fatalf("cut at byte %d of %d: %v", i, len(rec), err)
		}
	}
	if lines != 4 {
		t.Errorf("the recording has %d lines, want header, two exchanges and end", lines)
	}
	if _, err := replay.Load(bytes.NewReader(append(bytes.Clone(rec), rec...))); choir.CodeOf(err) != choir.CodeCorrupt {
		t.Errorf("lines after the end: %v", err)
	}
}

func TestSwappedLinesAndAnswersAreRefused(t *testing.T) {
	rec := record(t, conversation("director", false)...)
	lines := bytes.SplitAfter(rec, []byte("\n"))
	lines[1], lines[2] = lines[2], lines[1]
	if _, err := replay.Load(bytes.NewReader(bytes.Join(lines, nil))); choir.CodeOf(err) != choir.CodeCorrupt || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("two swapped exchanges: %v", err)
	}
	swapped := conversation("director", false)
	a, b := string(line(t, rec, 1)), string(line(t, rec, 2))
	answer := func(s string) string { return s[strings.Index(s, `"response":`):strings.LastIndex(s, `,"sha256"`)] }
	lines = bytes.SplitAfter(rec, []byte("\n"))
	lines[1] = []byte(strings.Replace(a, answer(a), answer(b), 1))
	lines[2] = []byte(strings.Replace(b, answer(b), answer(a), 1))
	if _, err := replay.Load(bytes.NewReader(bytes.Join(lines, nil))); choir.CodeOf(err) != choir.CodeCorrupt {
		t.Errorf("two swapped answers: %v", err)
	}
	// Even sealed anew, the requests and the answers find each other out.
	swapped[0].req, swapped[1].req = swapped[1].req, swapped[0].req
	_, err := ask(t, play(t, record(t, swapped...)), runNow, conversation("director", true)[0])
	wantUnmatched(t, err)
	swapped = conversation("director", false)
	swapped[0].resp, swapped[1].resp = swapped[1].resp, swapped[0].resp
	if _, err := replay.Load(bytes.NewReader(record(t, swapped...))); choir.CodeOf(err) != choir.CodeCorrupt {
		t.Errorf("two swapped answers, sealed anew: %v", err)
	}
}

func TestARecordingOfOtherRulesIsRefused(t *testing.T) {
	rec := record(t, conversation("director", false)...)
	if !bytes.Contains(line(t, rec, 0), []byte(`"name":"uuid"`)) || !bytes.Contains(line(t, rec, 0), []byte("This is a recording")) {
		t.Errorf("the header does not say what it is: %s", line(t, rec, 0))
	}
	_, err := replay.Load(bytes.NewReader(replay.Reseal(t, rec, func(rules []replay.Rule) []replay.Rule { return rules[1:] })))
	if choir.CodeOf(err) != choir.CodeInvalid {
		t.Errorf("a recording made with other rules: %v", err)
	}
}
