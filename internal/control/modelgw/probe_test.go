package modelgw_test

import (
	"context"
	"encoding/json"
	"testing"

	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/model"
	"choiros/internal/model/anthropic"
	"choiros/internal/model/attempt"
	"choiros/internal/model/modeltest"
	"choiros/internal/model/wiretest"
)

func TestAProbeTellsWhatAModelCanDo(t *testing.T) {
	sees := modeltest.Answer()
	sees.Content = []model.Block{
		{Kind: model.Thinking, Text: "A square.", Thought: &model.Thought{Signature: "s"}},
		{Kind: model.ToolCall, CallID: "call_a", Tool: "report_colour", Input: json.RawMessage(`{"colour":"Red"}`)},
	}
	talks := modeltest.Answer()
	talks.Content, talks.Stop = []model.Block{{Kind: model.Text, Text: "I see nothing at all."}}, model.StopEnd
	for name, c := range map[string]struct {
		steps []wiretest.Step
		want  modelgw.Probed
		left  string
	}{
		"all":     {[]wiretest.Step{{Answer: sees}}, modelgw.Probed{Tools: true, Streaming: true, Images: true, Thinking: true}, ""},
		"nothing": {[]wiretest.Step{{Status: 400, Message: "image input is not supported"}, {Answer: talks}}, modelgw.Probed{Streaming: true}, "images"},
	} {
		t.Run(name, func(t *testing.T) {
			server := wiretest.NewServer(wiretest.Anthropic, c.steps...)
			defer server.Close()
			p := anthropic.New(anthropic.Config{
				BaseURL: server.URL, HTTP: plainHTTP(t), Retry: attempt.Policy{Tries: 1},
				Key: func(context.Context) (string, error) { return "k", nil },
			})
			fallback := &stub{stream: saysHello}
			r := newRig(t, routes(fallback))
			got, err := r.gw.Probe(t.Context(), modelgw.Route{Provider: p, Model: "claude-x", Free: true, Fallbacks: []modelgw.Route{{Provider: fallback, Free: true}}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if left := got.Answer.LeftOut; c.left == "" != (len(left) == 0) || len(left) > 0 && left[0] != c.left {
				t.Errorf("left out %v", left)
			}
			got.Answer = model.Response{}
			if got.Tools != c.want.Tools || got.Streaming != c.want.Streaming || got.Images != c.want.Images || got.Thinking != c.want.Thinking {
				t.Errorf("it can %+v, want %+v", got, c.want)
			}
			if end := payload[choir.ModelReturned](t, r.log.of("model.returned")[0]); end.Caller != modelgw.CallerOwner {
				t.Errorf("the log has %+v", end)
			}
		})
	}
}

func TestAProbeThatFailsAsksNoOther(t *testing.T) {
	fallback := &stub{stream: saysHello}
	r := newRig(t, routes(fallback))
	_, err := r.gw.Probe(t.Context(), modelgw.Route{Provider: failing(choir.CodeOverloaded, ""), Model: "x", Free: true, Fallbacks: []modelgw.Route{{Provider: fallback, Free: true}}}, nil)
	wantCode(t, err, choir.CodeOverloaded)
	if fallback.calls() > 0 {
		t.Error("the fallback was asked")
	}
}
