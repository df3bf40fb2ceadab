// Package modeltest is the conformance suite of model providers.
package modeltest

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/model"
	"choiros/internal/model/attempt"
	"choiros/internal/model/wiretest"
)

// Key is the key with which a harness calls its provider. No error may contain it.
const Key = "sk-test-0123456789abcdef/+secret"

// Harness creates the provider under test.
type Harness struct {
	// Wire is the wire format of the provider, in which the suite's servers answer and
	// fail. Empty for a provider that calls no server.
	Wire wiretest.Wire
	// Of is the name of the service at 127.0.0.1 in the thinking of its models.
	Of string
	// New returns a provider that calls the server at url with Key.
	New func(t *testing.T, url string, retry attempt.Policy) model.Provider
	// Answering returns a provider without a wire format that answers req with resp.
	Answering func(t *testing.T, req model.Request, resp model.Response) model.Provider
}

// Run runs the suite on a provider.
func Run(t *testing.T, h Harness) {
	t.Run("answers", func(t *testing.T) { testAnswers(t, h) })
	t.Run("many at once", func(t *testing.T) { testConcurrent(t, h) })
	if h.Wire == "" {
		return
	}
	t.Run("request", func(t *testing.T) { testRequest(t, h) })
	t.Run("split at every byte", func(t *testing.T) { testSplit(t, h) })
	t.Run("cut after every event", func(t *testing.T) { testCut(t, h) })
	t.Run("settings", func(t *testing.T) { testSettings(t, h) })
	t.Run("images", func(t *testing.T) { testImages(t, h) })
	t.Run("thinking goes back", func(t *testing.T) { testThinkingBack(t, h) })
	t.Run("refused parameters", func(t *testing.T) { testRefused(t, h) })
	t.Run("too long", func(t *testing.T) { testTooLong(t, h) })
	t.Run("restart", func(t *testing.T) { testRestart(t, h) })
	t.Run("retries", func(t *testing.T) { testRetries(t, h) })
	t.Run("faults", func(t *testing.T) { testFaults(t, h) })
	t.Run("cancellation", func(t *testing.T) { testCancel(t, h) })
	t.Run("no key in errors", func(t *testing.T) { testKey(t, h) })
}

// Quick is a policy with short pauses for tests.
var Quick = attempt.Policy{First: time.Millisecond, Longest: 2 * time.Millisecond}

// Request returns a conversation that contains every kind of block.
func Request() model.Request {
	return model.Request{
		Model:  "test-model",
		System: "You are a test.",
		Messages: []model.Message{
			{Role: model.User, Content: []model.Block{{Kind: model.Text, Text: "Look at both files, please."}}},
			{Role: model.Assistant, Content: []model.Block{
				{Kind: model.Text, Text: "Both."},
				{Kind: model.ToolCall, CallID: "call_a", Tool: "read_file", Input: json.RawMessage(`{"path":"a"}`)},
				{Kind: model.ToolCall, CallID: "call_b", Tool: "read_file", Input: json.RawMessage(`{"path":"b"}`)},
			}},
			{Role: model.User, Content: []model.Block{
				{Kind: model.ToolResult, CallID: "call_a", Text: "alpha"},
				{Kind: model.ToolResult, CallID: "call_b", Text: "no such file", IsError: true},
			}},
		},
		Tools: []model.ToolDef{
			{Name: "read_file", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
			{Name: "bash", Description: "Runs a command.", Schema: json.RawMessage(`{"type":"object"}`)},
		},
		MaxTokens: 1000,
	}
}

// Answer returns a response with text beyond ASCII and two tool calls.
func Answer() model.Response {
	return model.Response{
		Model: "test-model",
		Content: []model.Block{
			{Kind: model.Text, Text: "I see: naïve “quotes”, 漢字, \n\tand \\ escapes 🎻."},
			{Kind: model.ToolCall, CallID: "call_c", Tool: "bash", Input: json.RawMessage(`{"command":"echo \"zwölf\" | wc -c","n":[1,2.5,null]}`)},
			{Kind: model.ToolCall, CallID: "call_d", Tool: "read_file", Input: json.RawMessage(`{"path":"ünïcode 漢.txt"}`)},
		},
		Stop:  model.StopTool,
		Usage: model.Usage{Input: 120, Output: 34, CacheRead: 100},
	}
}

// text returns an answer of one text.
func text(s string, stop model.Stop) model.Response {
	r := model.Response{Model: "test-model", Stop: stop, Usage: model.Usage{Input: 7, Output: 3}}
	if s != "" {
		r.Content = []model.Block{{Kind: model.Text, Text: s}}
	}
	return r
}

// answering returns a provider that answers Request with resp.
func (h Harness) answering(t *testing.T, resp model.Response) model.Provider {
	t.Helper()
	if h.Wire == "" {
		return h.Answering(t, Request(), resp)
	}
	p, _ := h.serving(t, Quick, wiretest.Step{Answer: resp})
	return p
}

// serving returns a provider and the server it calls, which answers by steps.
func (h Harness) serving(t *testing.T, retry attempt.Policy, steps ...wiretest.Step) (model.Provider, *wiretest.Server) {
	t.Helper()
	s := wiretest.NewServer(h.Wire, steps...)
	t.Cleanup(s.Close)
	return h.New(t, s.URL, retry), s
}

// heard collects the pieces of a stream.
type heard struct{ text, input, tools, thinking strings.Builder }

// on adds a piece.
func (h *heard) on(d model.Delta) {
	if d.Thinking != nil {
		h.thinking.WriteString(d.Thinking.Text)
	}
	h.text.WriteString(d.Text)
	h.input.WriteString(d.Input)
	h.tools.WriteString(d.Tool)
}

// check compares the streamed pieces with the whole answer.
func (h *heard) check(t *testing.T, r model.Response) {
	t.Helper()
	var want heard
	for _, b := range r.Content {
		switch {
		case b.Kind == model.Thinking:
			want.on(model.Delta{Thinking: &b})
		case b.IsError:
			want.on(model.Delta{Tool: b.Tool, Input: b.Text})
		default:
			want.on(model.Delta{Text: b.Text, Tool: b.Tool, Input: string(b.Input)})
		}
	}
	if h.thinking.String() != want.thinking.String() {
		t.Errorf("heard the thinking %q, the answer has %q", h.thinking.String(), want.thinking.String())
	}
	if h.text.String() != want.text.String() || h.tools.String() != want.tools.String() {
		t.Errorf("streamed text %q and tools %q, the answer has %q and %q", h.text.String(), h.tools.String(), want.text.String(), want.tools.String())
	}
	if h.input.String() != want.input.String() {
		t.Errorf("streamed input %q, the answer has %q", h.input.String(), want.input.String())
	}
}

// same compares two answers. It ignores whether they are marked as recorded.
func same(t *testing.T, got, want model.Response) {
	t.Helper()
	got.Usage.FromRecord = want.Usage.FromRecord
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the answer differs (-want +got):\n%s", diff)
	}
}

// testAnswers checks answers of every kind, whole and in pieces.
func testAnswers(t *testing.T, h Harness) {
	for name, want := range map[string]model.Response{
		"text and tool calls": Answer(),
		"text":                text("Hello.", model.StopEnd),
		"nothing":             text("", model.StopEnd),
		"thinking":            h.thoughtful(),
		"half an input":       broken(),
		"length":              text("Once upon a", model.StopLength),
		"refusal":             text("No.", model.StopRefusal),
	} {
		t.Run(name, func(t *testing.T) {
			var got heard
			resp, err := h.answering(t, want).Stream(t.Context(), Request(), got.on)
			if err != nil {
				t.Fatal(err)
			}
			same(t, resp, want)
			got.check(t, want)
		})
	}
	t.Run("nobody listens", func(t *testing.T) {
		resp, err := h.answering(t, Answer()).Stream(t.Context(), Request(), nil)
		if err != nil {
			t.Fatal(err)
		}
		same(t, resp, Answer())
	})
}

// testConcurrent checks that concurrent calls get whole answers.
func testConcurrent(t *testing.T, h Harness) {
	p := h.answering(t, Answer())
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			var got heard
			resp, err := p.Stream(t.Context(), Request(), got.on)
			if err != nil {
				t.Error(err)
				return
			}
			same(t, resp, Answer())
			got.check(t, Answer())
		})
	}
	wg.Wait()
}
