package openai

import (
	"encoding/json"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"choiros/internal/model"
)

// params converts a request into the API's form. It sets max_completion_tokens for
// OpenAI, whose newer models refuse max_tokens, and max_tokens for compatible endpoints,
// which support only that.
func (p *Provider) params(req model.Request) openai.ChatCompletionNewParams {
	out := openai.ChatCompletionNewParams{
		Model:         req.Model,
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	if p.own {
		out.MaxCompletionTokens = openai.Int(int64(req.MaxTokens))
	} else {
		out.MaxTokens = openai.Int(int64(req.MaxTokens))
	}
	if req.System != "" {
		out.Messages = append(out.Messages, openai.SystemMessage(req.System))
	}
	for _, m := range req.Messages {
		out.Messages = append(out.Messages, messages(m)...)
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, tool(t))
	}
	switch req.ToolChoice {
	case "", "auto":
	case "any":
		out.ToolChoice.OfAuto = openai.String("required")
	default:
		out.ToolChoice = openai.ToolChoiceOptionFunctionToolChoice(openai.ChatCompletionNamedToolChoiceFunctionParam{Name: req.ToolChoice})
	}
	return out
}

func tool(d model.ToolDef) openai.ChatCompletionToolUnionParam {
	return openai.ChatCompletionToolUnionParam{OfFunction: &openai.ChatCompletionFunctionToolParam{
		Function: param.Override[shared.FunctionDefinitionParam](struct {
			Name        string          `json:"name"`
			Description string          `json:"description,omitempty"`
			Parameters  json.RawMessage `json:"parameters"`
		}{d.Name, d.Description, d.Schema}),
	}}
}

// messages converts a message into the API's: an assistant message into one, a user
// message into one for each tool result and one for its text.
func messages(m model.Message) []openai.ChatCompletionMessageParamUnion {
	if m.Role == model.Assistant {
		return []openai.ChatCompletionMessageParamUnion{assistant(m)}
	}
	var out []openai.ChatCompletionMessageParamUnion
	text := ""
	for _, b := range m.Content {
		switch {
		case b.Kind == model.Text:
			text = join(text, b.Text)
		case b.IsError:
			// The API has no mark for a tool that failed.
			out = append(out, openai.ToolMessage("error: "+b.Text, b.CallID))
		default:
			out = append(out, openai.ToolMessage(b.Text, b.CallID))
		}
	}
	if text != "" || len(out) == 0 {
		out = append(out, openai.UserMessage(text))
	}
	return out
}

// assistant converts an assistant message with its tool calls.
func assistant(m model.Message) openai.ChatCompletionMessageParamUnion {
	out := &openai.ChatCompletionAssistantMessageParam{}
	text := ""
	for _, b := range m.Content {
		if b.Kind == model.Text {
			text = join(text, b.Text)
			continue
		}
		out.ToolCalls = append(out.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
				ID:       b.CallID,
				Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: b.Tool, Arguments: string(b.Input)},
			},
		})
	}
	if text != "" || len(out.ToolCalls) == 0 {
		out.Content.OfString = openai.String(text)
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: out}
}

// join joins two texts with a newline; the first may be empty.
func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}
