package modelgw_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	aoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	ooption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"choiros/internal/model"
	"choiros/internal/model/modeltest"
)

// thoughtful is an answer with thinking of two services, text and tool calls.
func thoughtful() model.Response {
	r := modeltest.Answer()
	r.Content = append([]model.Block{
		{Kind: model.Thinking, Text: "Let me see.", Thought: &model.Thought{Of: "messages claude", Signature: "sig+/="}},
		{Kind: model.Thinking, Thought: &model.Thought{Of: "messages claude", Sealed: "sealed"}},
	}, r.Content...)
	return r
}

// wantBack checks that the answer came back as the second message of the last request.
func wantBack(t *testing.T, p *stub, want model.Response) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	got := p.asked[len(p.asked)-1].Messages[1].Content
	if diff := cmp.Diff(want.Content, got); diff != "" {
		t.Errorf("the answer came back differently (-want +got):\n%s", diff)
	}
}

func TestThinkingComesBackThroughTheAnthropicSDK(t *testing.T) {
	p := answers(thoughtful())
	r := newRig(t, routes(p))
	client := anthropicClient(t, r)
	params := messagesParams()
	params.MaxTokens, params.Thinking = 10_000, anthropic.ThinkingConfigParamOfEnabled(5000)
	first := params.Messages[:1:1]
	params.Messages = first
	stream := client.NewStreaming(t.Context(), params)
	var m anthropic.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	whole, err := client.New(t.Context(), params)
	if err != nil || len(whole.Content) != 5 || whole.Content[0].Thinking != "Let me see." {
		t.Fatalf("not streamed it is %+v: %v", whole, err)
	}
	params.Messages = append(first, m.ToParam(), anthropic.NewUserMessage(
		anthropic.NewToolResultBlock("call_c", "ok", false),
		anthropic.ContentBlockParamUnion{OfToolResult: &anthropic.ToolResultBlockParam{ToolUseID: "call_d", Content: []anthropic.ToolResultBlockParamContentUnion{
			{OfImage: anthropic.NewImageBlockBase64("image/png", modeltest.Pixel).OfImage},
		}}},
		anthropic.NewImageBlockBase64("image/png", modeltest.Pixel)))
	if _, err := client.New(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	wantBack(t, p, thoughtful())
	last := p.asked[2]
	if last.Effort != "medium" || *last.Temperature != 0.5 || len(last.Messages[2].Content[1].Images) != 1 || last.Messages[2].Content[2].Kind != model.Picture {
		t.Errorf("the provider was asked %+v", last)
	}
	count, err := client.CountTokens(t.Context(), anthropic.MessageCountTokensParams{Model: "x", Messages: params.Messages, Thinking: params.Thinking})
	if err != nil || count.InputTokens < 100 || p.calls() != 3 {
		t.Errorf("counted %+v after %d calls: %v", count, p.calls(), err)
	}
}

// Claude Code sends system messages within the conversation.
func TestASystemMessageWithinAConversationIsKept(t *testing.T) {
	p := answers(hello())
	r := newRig(t, routes(p))
	body := `{"model":"x","max_tokens":9,"messages":[{"role":"system","content":"first"},{"role":"user","content":"hi"},{"role":"system","content":[{"type":"text","text":"be kind"}]}]}`
	resp, err := plainHTTP(t).Post(r.http.URL+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	asked := p.asked[0]
	if asked.System != "first" || len(asked.Messages) != 1 || asked.Messages[0].Content[1].Text != "<system>\nbe kind\n</system>" {
		t.Errorf("the provider was asked %+v", asked)
	}
}

func TestTheResponsesAPIThroughTheOpenAISDK(t *testing.T) {
	want := thoughtful()
	want.Content = append(want.Content, model.Block{Kind: model.ToolCall, CallID: "call_e", Tool: "patch", Input: json.RawMessage(`{"input":"*** Begin"}`)})
	p := answers(want)
	r := newRig(t, routes(p))
	client := responses.NewResponseService(ooption.WithBaseURL(r.http.URL+"/v1"), ooption.WithAPIKey("choir"), ooption.WithHTTPClient(plainHTTP(t)))
	question := responses.ResponseInputItemParamOfMessage(responses.ResponseInputMessageContentListParam{
		responses.ResponseInputContentParamOfInputText("look"),
		{OfInputImage: &responses.ResponseInputImageParam{Detail: "auto", ImageURL: openai.String("data:image/png;base64," + modeltest.Pixel)}},
	}, responses.EasyInputMessageRoleUser)
	params := responses.ResponseNewParams{
		Model: "gpt-5", Instructions: openai.String("be brief"), MaxOutputTokens: openai.Int(100), Temperature: openai.Float(0.5),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
			responses.ResponseInputItemParamOfMessage("and kind", responses.EasyInputMessageRoleDeveloper), question,
		}},
		Tools: []responses.ToolUnionParam{
			responses.ToolParamOfFunction("read_file", map[string]any{"type": "object"}, false), responses.ToolParamOfFunction("bash", map[string]any{"type": "object"}, false),
			{OfCustom: &responses.CustomToolParam{Name: "patch"}}, {OfWebSearch: &responses.WebSearchToolParam{Type: "web_search"}},
		},
	}
	params.Reasoning.Effort = "high"
	stream := client.NewStreaming(t.Context(), params)
	text, done := "", responses.ResponseInputParam{question}
	var ended responses.Response
	for stream.Next() {
		e := stream.Current()
		switch e.Type {
		case "response.output_text.delta":
			text += e.Delta
		case "response.output_item.done":
			var item responses.ResponseInputItemUnionParam
			if err := json.Unmarshal([]byte(e.Item.RawJSON()), &item); err != nil {
				t.Fatal(err)
			}
			done = append(done, item)
		case "response.completed":
			ended = e.Response
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if text != modeltest.Answer().Content[0].Text || ended.Usage.InputTokens != 120 || ended.Usage.InputTokensDetails.CachedTokens != 100 || len(ended.Output) != 6 {
		t.Errorf("streamed %q, ended with %s", text, ended.RawJSON())
	}
	asked := p.asked[0]
	if asked.System != "be brief\n\nand kind" || asked.Effort != "high" || len(asked.Tools) != 3 || asked.MaxTokens != 100 || len(asked.Messages[0].Content) != 2 {
		t.Errorf("the provider was asked %+v", asked)
	}
	for _, call := range []string{"call_c", "call_d", "call_e"} {
		out := responses.ResponseInputItemParamOfFunctionCallOutput("ok")
		out.OfFunctionCallOutput.CallID = openai.String(call)
		done = append(done, out)
	}
	params.Input.OfInputItemList = done
	whole, err := client.New(t.Context(), params)
	if err != nil || len(whole.Output) != 6 || whole.OutputText() != text || whole.Output[5].Type != "custom_tool_call" {
		t.Fatalf("not streamed it is %+v: %v", whole, err)
	}
	wantBack(t, p, want)
}

func TestEveryBaseURLListsTheModels(t *testing.T) {
	r := newRig(t, routes(answers(hello())))
	for _, base := range []string{"", "/anthropic", "/openai"} {
		client := anthropic.NewModelService(aoption.WithoutEnvironmentDefaults(), aoption.WithBaseURL(r.http.URL+base), aoption.WithAPIKey("choir"), aoption.WithHTTPClient(plainHTTP(t)))
		list, err := client.List(t.Context(), anthropic.ModelListParams{})
		if err != nil || len(list.Data) != 2 || list.Data[0].ID != "associate" || list.HasMore {
			t.Errorf("%s lists %+v: %v", base, list, err)
		}
		one, err := client.Get(t.Context(), "claude-x", anthropic.ModelGetParams{})
		if err != nil || one.ID != "claude-x" {
			t.Errorf("%s has %+v: %v", base, one, err)
		}
	}
	models := openai.NewModelService(ooption.WithBaseURL(r.http.URL+"/v1"), ooption.WithAPIKey("choir"), ooption.WithHTTPClient(plainHTTP(t)))
	if list, err := models.List(t.Context()); err != nil || len(list.Data) != 2 || list.Data[1].ID != "director" {
		t.Errorf("OpenAI's client lists %+v: %v", list, err)
	}
}

func TestAResponseThatFailsSaysWhy(t *testing.T) {
	r := newRig(t, routes(failing("too_large", "")))
	for body, want := range map[string]string{
		`{"model":"x","input":"hi"}`:                                                "413 ",
		`{"model":"x","input":"hi","previous_response_id":"resp_1"}`:                "400 previous_response_id",
		`{"model":"x","input":[{"type":"computer_call"}]}`:                          "400 input[0].type",
		`{"model":"x","input":[{"role":"user","content":[{"type":"input_file"}]}]}`: "400 input[0].content[0].type",
	} {
		resp, err := plainHTTP(t).Post(r.http.URL+"/v1/responses", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		var e struct{ Error struct{ Message string } }
		status, path, _ := strings.Cut(want, " ")
		if json.Unmarshal(raw, &e) != nil || !strings.HasPrefix(resp.Status, status) || !strings.Contains(e.Error.Message, path) {
			t.Errorf("%s gets %s %s", body, resp.Status, raw)
		}
	}
	r = newRig(t, routes(failing("too_large", "half")))
	resp, err := plainHTTP(t).Post(r.http.URL+"/v1/responses", "application/json", strings.NewReader(`{"model":"x","input":"hi","stream":true}`))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(resp.Body)
	if !strings.Contains(string(raw), `"code":"context_length_exceeded"`) || strings.Contains(string(raw), "response.completed") {
		t.Errorf("the stream is %s", raw)
	}
}
