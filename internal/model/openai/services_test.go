package openai_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"choiros/internal/model"
	"choiros/internal/model/modeltest"
	"choiros/internal/model/openai"
	"choiros/internal/model/wiretest"
)

// leading sends each request to a server, whatever host it is for.
type leading struct {
	to   string
	next *http.Transport
}

func (l leading) RoundTrip(r *http.Request) (*http.Response, error) {
	at, err := url.Parse(l.to)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = at.Scheme, at.Host
	return l.next.RoundTrip(r)
}

// asks returns the body that a service at an address gets for a request.
func asks(t *testing.T, address string, req model.Request, steps ...wiretest.Step) (body string, resp model.Response) {
	t.Helper()
	s := wiretest.NewServer(wiretest.OpenAI, append(steps, wiretest.Step{Answer: modeltest.Answer()})...)
	t.Cleanup(s.Close)
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	p := openai.New(openai.Config{Key: func(context.Context) (string, error) { return "k", nil }, BaseURL: address, HTTP: &http.Client{Transport: leading{s.URL, tr}}})
	resp, err := p.Stream(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := s.Requests()
	return string(all[len(all)-1].Body), resp
}

func TestEachServiceIsAskedAsItUnderstands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address, model, effort string
		has, lacks             string
	}{
		{"https://api.z.ai/api/paas/v4", "glm-4.6", "", `Always answer with a call`, `"tool_choice"`},
		{"https://api.z.ai/api/paas/v4", "glm-4.6", "high", `"thinking":{"type":"enabled"}`, `reasoning_effort`},
		{"https://open.bigmodel.cn/api/paas/v4", "glm-4.6", "none", `"thinking":{"type":"disabled"}`, `reasoning_effort`},
		{"https://api.moonshot.ai/v1", "kimi-k2-thinking", "", `Always answer with a call`, `"tool_choice"`},
		{"https://openrouter.ai/api/v1", "moonshotai/kimi-k2", "", `Always answer with a call`, `"tool_choice"`},
		{"https://openrouter.ai/api/v1", "qwen/qwen3-coder", "", `"tool_choice":"required"`, `Always answer`},
		{"https://api.openai.com/v1", "gpt-5", "", `"tool_choice":"required"`, `"max_tokens"`},
		{"https://api.openai.com/v1", "gpt-5", "max", `"reasoning_effort":"xhigh"`, `"tool_choice"`},
		{"http://127.0.0.1:11434/v1", "qwen3", "low", `"max_tokens":1000`, `max_completion_tokens`},
	} {
		req := modeltest.Request()
		req.Model, req.Effort, req.ToolChoice = c.model, c.effort, "any"
		body, _ := asks(t, c.address, req)
		if !strings.Contains(body, c.has) || strings.Contains(body, c.lacks) {
			t.Errorf("%s of %s with effort %q: want %s and no %s in %s", c.model, c.address, c.effort, c.has, c.lacks, body)
		}
	}
}

func TestTheOtherNameOfTheTokenLimitIsUsedWhereOneIsRefused(t *testing.T) {
	t.Parallel()
	said := "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
	body, resp := asks(t, "https://proxy.example/v1", modeltest.Request(), wiretest.Step{Status: 400, Message: said})
	if !strings.Contains(body, `"max_completion_tokens":1000`) || strings.Contains(body, `"max_tokens"`) || len(resp.LeftOut) != 1 {
		t.Errorf("left out %v: %s", resp.LeftOut, body)
	}
}

// Kimi and Z.ai ask for all of the thinking, OpenRouter in a field of another name.
func TestThinkingGoesBackInTheFieldInWhichItCame(t *testing.T) {
	t.Parallel()
	req := modeltest.Request()
	for _, id := range []string{"", "reasoning"} {
		thought := model.Block{Kind: model.Thinking, Text: "Hm.", Thought: &model.Thought{Of: "chat api.moonshot.ai", ID: id}}
		answer := modeltest.Answer()
		answer.Content = append([]model.Block{thought}, answer.Content...)
		_, resp := asks(t, "https://api.moonshot.ai/v1", req, wiretest.Step{Answer: answer})
		next := modeltest.Request()
		next.Messages[1].Content = append([]model.Block{resp.Content[0]}, next.Messages[1].Content...)
		body, _ := asks(t, "https://api.moonshot.ai/v1", next)
		field := "reasoning_content"
		if id != "" {
			field = id
		}
		if !strings.Contains(body, `"`+field+`":"Hm."`) {
			t.Errorf("%s did not go back: %s", field, body)
		}
	}
}

// OpenRouter streams what a provider has signed or encrypted in reasoning_details, and wants
// all of it back in one piece.
func TestReasoningDetailsGoBackWhole(t *testing.T) {
	t.Parallel()
	details := `[{"format":"anthropic-claude-v1","id":"a","signature":"c2ln","text":"First I look: naïve 漢字.","type":"reasoning.text"},{"data":"c2VhbGVk","id":"b","type":"reasoning.encrypted"},{"data":"bW9yZQ==","id":"c","type":"reasoning.encrypted"}]`
	thought := model.Block{Kind: model.Thinking, Thought: &model.Thought{Of: "chat openrouter.ai", ID: "reasoning_details", Sealed: details}}
	answer := modeltest.Answer()
	answer.Content = append([]model.Block{thought}, answer.Content...)
	_, resp := asks(t, "https://openrouter.ai/api/v1", modeltest.Request(), wiretest.Step{Answer: answer})
	if b := resp.Content[0]; b.Kind != model.Thinking || b.Text != "First I look: naïve 漢字." || b.Thought.Sealed != details {
		t.Fatalf("%+v %+v", b, b.Thought)
	}
	next := modeltest.Request()
	next.Messages[1].Content = append([]model.Block{resp.Content[0]}, next.Messages[1].Content...)
	body, _ := asks(t, "https://openrouter.ai/api/v1", next)
	if !strings.Contains(body, `"reasoning_details":`+details) || strings.Contains(body, `"reasoning":`) {
		t.Errorf("did not go back: %s", body)
	}
	elsewhere, _ := asks(t, "https://api.moonshot.ai/v1", next)
	if strings.Contains(elsewhere, "reasoning_details") {
		t.Errorf("went to another service: %s", elsewhere)
	}
}
