package agentloop_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// script answers with its responses in order and keeps the requests.
type script struct {
	responses []model.Response
	requests  []model.Request
}

func (s *script) Call(_ context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
	if n := len(s.requests); n < len(s.responses) {
		s.requests = append(s.requests, req)
		if on != nil {
			on(model.Delta{Text: s.responses[n].Content[0].Text})
		}
		return s.responses[n], nil
	}
	return model.Response{}, choir.E("script", choir.CodeProvider, "no more answers")
}

func text(s string) model.Response {
	return model.Response{Model: "m", Stop: model.StopEnd, Usage: model.Usage{Input: 10, Output: 5},
		Content: []model.Block{{Kind: model.Text, Text: s}}}
}

func calls(say string, tools ...string) model.Response {
	r := text(say)
	r.Stop = model.StopTool
	for i, name := range tools {
		r.Content = append(r.Content, model.Block{Kind: model.ToolCall, CallID: name + strconv.Itoa(i), Tool: name, Input: json.RawMessage(`{"a":1}`)})
	}
	return r
}

func tool(name string, res agentloop.Result, err error) agentloop.Tool {
	return agentloop.Tool{Def: model.ToolDef{Name: name}, Run: func(context.Context, model.Block) (agentloop.Result, error) { return res, err }}
}

func run(t *testing.T, s *script, change func(*agentloop.Config)) (agentloop.Outcome, error) {
	t.Helper()
	cfg := agentloop.Config{
		Model: s, Messages: []model.Message{agentloop.Say(model.User, "go")},
		Tools: []agentloop.Tool{
			tool("good", agentloop.Result{Text: "fine"}, nil),
			tool("bad", agentloop.Result{Text: "no", IsError: true}, nil),
			tool("last", agentloop.Result{Text: "bye", Stop: true}, nil),
			tool("broken", agentloop.Result{}, errors.New("disk on fire")),
		},
	}
	if change != nil {
		change(&cfg)
	}
	return agentloop.Run(context.Background(), cfg)
}

// TestAToolEndsTheWorkUnlessACallBeforeItFailed: its words are the last ones, and a call behind it is not run.
func TestAToolEndsTheWorkUnlessACallBeforeItFailed(t *testing.T) {
	t.Parallel()
	ending := func(c *agentloop.Config) {
		c.Tools = append(c.Tools, tool("done", agentloop.Result{Text: "the end", Final: "all is well"}, nil))
	}
	s := &script{responses: []model.Response{calls("at once", "good", "done", "good")}}
	out, err := run(t, s, ending)
	if err != nil || out.Stopped != agentloop.Done || out.Final != "all is well" || out.Steps != 1 {
		t.Fatalf("outcome %+v, %v", out, err)
	}
	last := out.Messages[len(out.Messages)-1].Content
	if len(last) != 3 || last[1].Text != "the end" || !last[2].IsError || !strings.HasPrefix(last[2].Text, "not run:") {
		t.Errorf("the calls were answered %+v", last)
	}

	s = &script{responses: []model.Response{calls("at once", "bad", "done"), text("now it is")}}
	out, err = run(t, s, ending)
	if err != nil || out.Stopped != agentloop.Done || out.Final != "now it is" || out.Steps != 2 {
		t.Fatalf("outcome %+v, %v", out, err)
	}
	if told := s.requests[1].Messages[2].Content[1]; !told.IsError || told.Text != "the work goes on: a call of bad in this response failed" {
		t.Errorf("it was told %+v", told)
	}
}

// TestAReviewGoesOnBehindAToolThatEnds: a failed check comes back, and so does what a person added.
func TestAReviewGoesOnBehindAToolThatEnds(t *testing.T) {
	t.Parallel()
	added, reviews := []string{"and the docs"}, []string{"the check fails"}
	s := &script{responses: []model.Response{calls("one", "done"), calls("two", "done"), calls("three", "done")}}
	out, err := run(t, s, func(c *agentloop.Config) {
		c.Tools = append(c.Tools, tool("done", agentloop.Result{Text: "the end", Final: "all is well"}, nil))
		c.Steer = func(context.Context) ([]string, error) {
			if len(s.requests) != 1 {
				return nil, nil
			}
			out := added
			added = nil
			return out, nil
		}
		c.Review = func(context.Context) (string, error) {
			if len(reviews) == 0 {
				return "", nil
			}
			text := reviews[0]
			reviews = nil
			return text, nil
		}
	})
	if err != nil || out.Stopped != agentloop.Done || out.Steps != 3 {
		t.Fatalf("outcome %+v, %v", out, err)
	}
	for i, want := range []string{"and the docs", "the check fails"} {
		messages := s.requests[i+1].Messages
		if got := messages[len(messages)-1].Content; len(got) != 2 || got[1].Text != want {
			t.Errorf("request %d ends with %+v, want %q", i+2, got, want)
		}
	}
}

func TestOneMessageAnswersEveryCall(t *testing.T) {
	t.Parallel()
	s := &script{responses: []model.Response{calls("both", "good", "bad", "absent"), text("done now")}}
	out, err := run(t, s, nil)
	if err != nil || out.Stopped != agentloop.Done || out.Final != "done now" || out.Steps != 2 {
		t.Fatalf("outcome %+v, %v", out, err)
	}
	want := []model.Block{
		{Kind: model.ToolResult, CallID: "good0", Text: "fine"},
		{Kind: model.ToolResult, CallID: "bad1", Text: "no", IsError: true},
		{Kind: model.ToolResult, CallID: "absent2", Text: "there is no tool absent; there are: good, bad, last, broken", IsError: true},
	}
	if diff := cmp.Diff(want, s.requests[1].Messages[2].Content); diff != "" {
		t.Error(diff)
	}
	if out.Usage.Input != 20 || out.Usage.Output != 10 {
		t.Errorf("usage %+v", out.Usage)
	}
}

func TestReasonsToStop(t *testing.T) {
	t.Parallel()
	bad, cut, refused := calls("x", "bad"), text("half"), text("no")
	cut.Stop, refused.Stop = model.StopLength, model.StopRefusal
	for _, c := range []struct {
		name      string
		responses []model.Response
		change    func(*agentloop.Config)
		want      agentloop.Reason
		steps     int
	}{
		{"a tool ends it", []model.Response{calls("x", "last", "good")}, nil, agentloop.ByTool, 1},
		{"steps", []model.Response{calls("x", "good"), calls("y", "good")}, func(c *agentloop.Config) { c.MaxSteps = 2 }, agentloop.Steps, 2},
		{"tokens", []model.Response{calls("x", "good"), calls("y", "good")}, func(c *agentloop.Config) { c.TokenBudget = 16 }, agentloop.Tokens, 2},
		{"no progress", []model.Response{bad, bad, bad}, nil, agentloop.NoProgress, 3},
		{"a success in between is progress", []model.Response{bad, bad, calls("x", "good"), bad, text("ok")}, nil, agentloop.Done, 5},
		{"length", []model.Response{cut}, nil, agentloop.Length, 1},
		{"refusal", []model.Response{refused}, nil, agentloop.Refusal, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, err := run(t, &script{responses: c.responses}, c.change)
			if err != nil || out.Stopped != c.want || out.Steps != c.steps {
				t.Errorf("stopped %q after %d steps, %v; want %q after %d", out.Stopped, out.Steps, err, c.want, c.steps)
			}
			answered(t, out.Messages)
		})
	}
}

// answered fails when a tool call has no answer in the message after it.
func answered(t *testing.T, messages []model.Message) {
	t.Helper()
	for i, m := range messages {
		for j, call := range (model.Response{Content: m.Content}).ToolCalls() {
			if got := messages[i+1].Content[j]; got.Kind != model.ToolResult || got.CallID != call.CallID {
				t.Errorf("call %s is answered by %+v", call.CallID, got)
			}
		}
	}
}

func TestAnErrorKeepsTheConversationWhole(t *testing.T) {
	t.Parallel()
	out, err := run(t, &script{responses: []model.Response{calls("x", "broken", "good")}}, nil)
	if err == nil || out.Stopped != agentloop.Failed {
		t.Fatalf("outcome %+v, %v", out, err)
	}
	answered(t, out.Messages)
	if out, err = run(t, &script{}, nil); choir.CodeOf(err) != choir.CodeProvider || len(out.Messages) != 1 {
		t.Errorf("model error: %+v, %v", out, err)
	}
}

func TestSteeringIsTakenUpAtTheNextStepAndBeforeTheEnd(t *testing.T) {
	t.Parallel()
	queue := [][]string{nil, {"be brief"}, {"and kind"}, nil, nil}
	s := &script{responses: []model.Response{calls("x", "good"), text("done?"), text("done.")}}
	out, err := run(t, s, func(c *agentloop.Config) {
		c.Steer = func(context.Context) ([]string, error) {
			next := queue[0]
			queue = queue[1:]
			return next, nil
		}
	})
	if err != nil || out.Final != "done." {
		t.Fatalf("outcome %+v, %v", out, err)
	}
	after := s.requests[1].Messages[2].Content
	if len(after) != 2 || after[0].Kind != model.ToolResult || after[1].Text != "be brief" {
		t.Errorf("the message after the call is %+v", after)
	}
	if last := s.requests[2].Messages[4]; last.Role != model.User || last.Content[0].Text != "and kind" {
		t.Errorf("the last message is %+v", last)
	}
}

// TestAReviewMayHaveTheModelGoOn: its text is the user's, and the loop ends once it has none.
func TestAReviewMayHaveTheModelGoOn(t *testing.T) {
	t.Parallel()
	texts := []string{"a test fails", ""}
	s := &script{responses: []model.Response{text("done?"), calls("x", "good"), text("done.")}}
	out, err := run(t, s, func(c *agentloop.Config) {
		c.Review = func(context.Context) (string, error) {
			next := texts[0]
			texts = texts[1:]
			return next, nil
		}
	})
	if err != nil || out.Final != "done." || out.Stopped != agentloop.Done || len(texts) != 0 {
		t.Fatalf("outcome %+v, %v", out, err)
	}
	if last := s.requests[1].Messages[2]; last.Role != model.User || last.Content[0].Text != "a test fails" {
		t.Errorf("the last message is %+v", last)
	}
	s = &script{responses: []model.Response{text("done?")}}
	out, err = run(t, s, func(c *agentloop.Config) {
		c.Review = func(context.Context) (string, error) { return "", errors.New("disk on fire") }
	})
	if err == nil || out.Stopped != agentloop.Failed || out.Final != "done?" {
		t.Errorf("outcome %+v, %v", out, err)
	}
}

func TestACutOffCallIsNotRun(t *testing.T) {
	t.Parallel()
	cut := calls("x", "good", "last")
	cut.Stop = model.StopLength
	s := &script{responses: []model.Response{cut, text("ok")}}
	out, err := run(t, s, nil)
	if err != nil || out.Stopped != agentloop.Done {
		t.Fatalf("outcome %+v, %v", out, err)
	}
	if got := s.requests[1].Messages[2].Content; got[0].IsError || !got[1].IsError {
		t.Errorf("answers %+v", got)
	}
}

func TestACallWithHalfAnInputIsToldAndNotRun(t *testing.T) {
	t.Parallel()
	half := calls("now", "good", "good")
	half.Content[2].IsError, half.Content[2].Input, half.Content[2].Text = true, json.RawMessage("{}"), `{"path":"a`
	s := &script{responses: []model.Response{half, text("done")}}
	out, err := run(t, s, nil)
	if err != nil || out.Stopped != agentloop.Done {
		t.Fatal(out.Stopped, err)
	}
	answers := s.requests[1].Messages[2].Content
	if answers[0].Text != "fine" || !answers[1].IsError || !strings.Contains(answers[1].Text, "not a whole JSON object") {
		t.Errorf("the model was told %+v", answers)
	}
}

func TestACancelledContextRunsNoTool(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	s := &script{responses: []model.Response{calls("x", "good")}}
	out, err := agentloop.Run(ctx, agentloop.Config{Model: s, OnDelta: func(model.Delta) { cancel() },
		Tools: []agentloop.Tool{tool("good", agentloop.Result{Text: "ran"}, nil)}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if last := out.Messages[len(out.Messages)-1].Content[0]; !last.IsError {
		t.Errorf("the tool ran: %+v", last)
	}
}

// TestALoopGoesOnAfterAnAnswer runs the tools of an answer that was given before, and asks then.
func TestALoopGoesOnAfterAnAnswer(t *testing.T) {
	s := &script{responses: []model.Response{text("done")}}
	answer := calls("first", "good")
	out, err := run(t, s, func(c *agentloop.Config) { c.Answered = &answer })
	if err != nil || out.Stopped != agentloop.Done || out.Final != "done" || len(s.requests) != 1 {
		t.Fatalf("%+v, %v after %d requests", out, err, len(s.requests))
	}
	if asked := s.requests[0].Messages; len(asked) != 3 || asked[1].Role != model.Assistant || asked[2].Content[0].Text != "fine" {
		t.Errorf("it asked %+v", asked)
	}
	last := text("that was all")
	out, err = run(t, &script{}, func(c *agentloop.Config) { c.Answered = &last })
	if err != nil || out.Stopped != agentloop.Done || out.Final != "that was all" {
		t.Errorf("after a last answer: %+v, %v", out, err)
	}
}
