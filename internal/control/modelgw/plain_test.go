package modelgw_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	aoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	ooption "github.com/openai/openai-go/v3/option"

	"choiros/internal/choir"
	"choiros/internal/control/modelgw"
	"choiros/internal/model"
	"choiros/internal/model/modeltest"
)

// answers is a provider that streams an answer piece by piece.
func answers(r model.Response) *stub {
	return &stub{stream: func(_ context.Context, _ model.Request, on func(model.Delta)) (model.Response, error) {
		for _, b := range r.Content {
			if b.Kind == model.Thinking {
				on(model.Delta{Thinking: &b})
				continue
			}
			if b.Kind == model.ToolCall {
				on(model.Delta{Tool: b.Tool})
				on(model.Delta{Input: string(b.Input)})
				continue
			}
			for _, c := range b.Text {
				on(model.Delta{Text: string(c)})
			}
		}
		return r, nil
	}}
}

func plainHTTP(t *testing.T) *http.Client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func anthropicClient(t *testing.T, r *rig) anthropic.MessageService {
	return anthropic.NewMessageService(aoption.WithoutEnvironmentDefaults(), aoption.WithBaseURL(r.http.URL+"/anthropic"),
		aoption.WithAPIKey("choir"), aoption.WithHTTPClient(plainHTTP(t)))
}

func openaiClient(t *testing.T, r *rig) openai.ChatCompletionService {
	return openai.NewChatCompletionService(ooption.WithBaseURL(r.http.URL+"/openai/v1"), ooption.WithAPIKey("choir"), ooption.WithHTTPClient(plainHTTP(t)))
}

func messagesParams() anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: "claude-sonnet-4-5", MaxTokens: 100, Temperature: anthropic.Float(0.5),
		System: []anthropic.TextBlockParam{{Text: "be brief", CacheControl: anthropic.NewCacheControlEphemeralParam()}},
		Messages: []anthropic.MessageParam{
			anthropic.NewUserMessage(anthropic.NewTextBlock("look")),
			anthropic.NewAssistantMessage(anthropic.NewThinkingBlock("sig", "hm"), anthropic.NewToolUseBlock("t1", json.RawMessage(`{"a":1}`), "read_file")),
			anthropic.NewUserMessage(anthropic.NewToolResultBlock("t1", "content", true)),
		},
		Tools: []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: map[string]any{"a": map[string]any{}}}, "read_file")},
	}
}

func checkMessage(t *testing.T, m *anthropic.Message, want model.Response) {
	t.Helper()
	if len(m.Content) != len(want.Content) || string(m.StopReason) != "tool_use" {
		t.Fatalf("the message is %s", m.RawJSON())
	}
	for i, b := range want.Content {
		got := m.Content[i]
		if got.Text != b.Text || got.ID != b.CallID || got.Name != b.Tool || b.Kind == model.ToolCall && string(got.Input) != string(b.Input) {
			t.Errorf("block %d is %+v, want %+v", i, got, b)
		}
	}
	if m.Usage.InputTokens != 20 || m.Usage.CacheReadInputTokens != 100 || m.Usage.OutputTokens != 34 {
		t.Errorf("the usage is %+v", m.Usage)
	}
}

func TestTheAnthropicSDKWorksThroughTheGateway(t *testing.T) {
	p := answers(modeltest.Answer())
	r := newRig(t, func(c *modelgw.Config) {
		routes(p)(c)
		c.Running = func(*http.Request) (modelgw.Work, error) {
			return modelgw.Work{Run: c.Computer, Task: c.Computer, Allowed: &choir.ModelBudget{CostUSD: 1}}, nil
		}
	})
	client := anthropicClient(t, r)
	whole, err := client.New(t.Context(), messagesParams())
	if err != nil {
		t.Fatal(err)
	}
	checkMessage(t, whole, modeltest.Answer())
	stream := client.NewStreaming(t.Context(), messagesParams())
	var m anthropic.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	checkMessage(t, &m, modeltest.Answer())
	req := p.asked[0]
	if req.System != "be brief" || req.MaxTokens != 100 || len(req.Tools) != 1 || !req.Messages[2].Content[0].IsError || len(req.Messages[1].Content) != 1 {
		t.Errorf("the provider was asked %+v", req)
	}
	called := r.log.of("model.called")
	if len(called) != 2 || called[0].Run != r.cfg.Computer || payload[choir.ModelCalled](t, called[0]).Caller != "tool" {
		t.Errorf("model.called is %+v", called)
	}
}

func TestTextAfterAToolCallKeepsItsPlace(t *testing.T) {
	want := modeltest.Answer()
	want.Content = append(want.Content, model.Block{Kind: model.Text, Text: "And then?"})
	r := newRig(t, routes(answers(want)))
	client := anthropicClient(t, r)
	stream := client.NewStreaming(t.Context(), messagesParams())
	var m anthropic.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	checkMessage(t, &m, want)
}

func completionParams() openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: "gpt-5", MaxCompletionTokens: openai.Int(100), StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("be brief"), openai.UserMessage("look"),
			{OfAssistant: &openai.ChatCompletionAssistantMessageParam{ToolCalls: []openai.ChatCompletionMessageToolCallUnionParam{
				{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{ID: "t1", Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "f", Arguments: `{"a":1}`}}},
				{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{ID: "t2", Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "f"}}},
			}}},
			openai.ToolMessage("one", "t1"), openai.ToolMessage("two", "t2"), openai.UserMessage("go on"),
		},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "f"})},
	}
}

func TestTheOpenAISDKWorksThroughTheGateway(t *testing.T) {
	p := answers(modeltest.Answer())
	r := newRig(t, routes(p))
	client := openaiClient(t, r)
	check := func(m openai.ChatCompletionMessage, u openai.CompletionUsage, finish string) {
		t.Helper()
		want := modeltest.Answer()
		if m.Content != want.Content[0].Text || len(m.ToolCalls) != 2 || finish != "tool_calls" {
			t.Fatalf("the message is %+v, finish %s", m, finish)
		}
		if c := m.ToolCalls[1]; c.ID != "call_d" || c.Function.Name != "read_file" || c.Function.Arguments != string(want.Content[2].Input) {
			t.Errorf("the second tool call is %+v", c)
		}
		if u.PromptTokens != 120 || u.CompletionTokens != 34 || u.PromptTokensDetails.CachedTokens != 100 {
			t.Errorf("the usage is %+v", u)
		}
	}
	whole, err := client.New(t.Context(), completionParams())
	if err != nil {
		t.Fatal(err)
	}
	check(whole.Choices[0].Message, whole.Usage, whole.Choices[0].FinishReason)
	stream := client.NewStreaming(t.Context(), completionParams())
	var acc openai.ChatCompletionAccumulator
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			t.Fatal("a chunk does not belong to the stream")
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	check(acc.Choices[0].Message, acc.Usage, acc.Choices[0].FinishReason)
	if req := p.asked[0]; len(req.Messages) != 4 || len(req.Messages[2].Content) != 2 || req.System != "be brief" || req.MaxTokens != 100 {
		t.Errorf("the provider was asked %+v", req)
	}
	models := openai.NewModelService(ooption.WithBaseURL(r.http.URL+"/openai/v1"), ooption.WithAPIKey("choir"), ooption.WithHTTPClient(plainHTTP(t)))
	page, err := models.List(t.Context())
	if err != nil || len(page.Data) != 2 || page.Data[0].ID != "associate" {
		t.Errorf("the models are %+v, %v", page, err)
	}
}

func TestPlainClientsGetHonestErrors(t *testing.T) {
	p := &stub{stream: func(_ context.Context, _ model.Request, on func(model.Delta)) (model.Response, error) {
		return model.Response{}, choir.E("stub", choir.CodeOverloaded, "too much to do")
	}}
	r := newRig(t, routes(p))
	a := anthropicClient(t, r)
	_, err := a.New(t.Context(), messagesParams())
	var ae *anthropic.Error
	if !errors.As(err, &ae) || ae.StatusCode != 529 || ae.Type() != "overloaded_error" {
		t.Errorf("the Anthropic client gets %v", err)
	}
	o := openaiClient(t, r)
	_, err = o.New(t.Context(), completionParams())
	var oe *openai.Error
	if !errors.As(err, &oe) || oe.StatusCode != 503 || oe.Message != "too much to do" {
		t.Errorf("the OpenAI client gets %v", err)
	}
	if p.calls() != 2 {
		t.Errorf("the clients asked %d times: they must not try again what the gateway has", p.calls())
	}
	image := messagesParams()
	image.Messages = []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewImageBlock(anthropic.URLImageSourceParam{URL: "https://example.com/a.png"}))}
	_, err = a.New(t.Context(), image)
	if !errors.As(err, &ae) || ae.StatusCode != 400 || ae.Type() != "invalid_request_error" {
		t.Errorf("an image elsewhere gets %v", err)
	}
}

func TestAnErrorInTheMiddleOfAPlainStream(t *testing.T) {
	r := newRig(t, routes(&stub{stream: func(_ context.Context, _ model.Request, on func(model.Delta)) (model.Response, error) {
		on(model.Delta{Text: "Hel"})
		return model.Response{}, choir.E("stub", choir.CodeProvider, "the provider's stream was cut")
	}}))
	a, o := anthropicClient(t, r), openaiClient(t, r)
	as := a.NewStreaming(t.Context(), messagesParams())
	for as.Next() {
	}
	if as.Err() == nil {
		t.Error("the Anthropic client takes a broken stream for a whole one")
	}
	os := o.NewStreaming(t.Context(), completionParams())
	for os.Next() {
	}
	if os.Err() == nil {
		t.Error("the OpenAI client takes a broken stream for a whole one")
	}
}

func TestEachPieceIsFlushed(t *testing.T) {
	heard := make(chan struct{})
	r := newRig(t, routes(&stub{stream: func(_ context.Context, _ model.Request, on func(model.Delta)) (model.Response, error) {
		for range 3 {
			on(model.Delta{Text: "x"})
			<-heard // deadlocks when the piece is kept back
		}
		return model.Response{Model: "m", Stop: model.StopEnd, Content: []model.Block{{Kind: model.Text, Text: "xxx"}}}, nil
	}}))
	o := openaiClient(t, r)
	stream := o.NewStreaming(t.Context(), completionParams())
	for stream.Next() {
		if c := stream.Current(); len(c.Choices) > 0 && c.Choices[0].Delta.Content == "x" {
			heard <- struct{}{}
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
}

// FuzzPlainRequests: whatever a program sends is either refused with a typed
// error or becomes a request that holds or is refused by its check.
func FuzzPlainRequests(f *testing.F) {
	f.Add([]byte(`{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"x","input_schema":{}}],"tool_choice":{"type":"tool","name":"x"}}`))
	f.Add([]byte(`{"model":"m","messages":[{"role":"tool","tool_call_id":"a","content":null},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]}],"tool_choice":"required","stream":true}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, parse := range []func([]byte) (model.Request, error){modelgw.ParseMessages, modelgw.ParseCompletions} {
			req, err := parse(raw)
			if err == nil {
				err = req.Check()
			}
			if err != nil && choir.CodeOf(err) != choir.CodeInvalid {
				t.Fatalf("code %s: %v", choir.CodeOf(err), err)
			}
			if err == nil {
				if _, err := choir.Canonical(req); err != nil {
					t.Fatalf("an accepted request cannot be written: %v", err)
				}
			}
		}
	})
}

// Claude Code joins answers of one id into one: its tool calls and their results came back in one message
// each, as if all had been called at once.
func TestAnswersOfAProgramHaveIdsOfTheirOwn(t *testing.T) {
	p := answers(hello())
	r := newRig(t, routes(p))
	for path, body := range map[string]string{
		"/v1/messages":         `{"model":"x","max_tokens":9,"messages":[{"role":"user","content":"hi"}]`,
		"/v1/chat/completions": `{"model":"x","messages":[{"role":"user","content":"hi"}]`,
		"/v1/responses":        `{"model":"x","input":"hi"`,
	} {
		ids := map[string]bool{}
		for _, end := range []string{"}", "}", `,"stream":true}`, `,"stream":true}`} {
			resp, err := plainHTTP(t).Post(r.http.URL+path, "application/json", strings.NewReader(body+end))
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatal(path, resp, err)
			}
			raw, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				t.Fatal(path, err)
			}
			id := regexp.MustCompile(`"id":"((?:msg|chatcmpl|resp)[^"]*)"`).FindSubmatch(raw)
			if id == nil || ids[string(id[1])] {
				t.Fatalf("%s: the ids %v are there, and then came %s", path, ids, raw)
			}
			ids[string(id[1])] = true
		}
	}
}
