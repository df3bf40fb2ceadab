package openai

import (
	"cmp"
	"encoding/json"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"choiros/internal/model"
	"choiros/internal/model/dialect"
)

// params converts a request into the API's form. It sets max_completion_tokens for
// OpenAI, whose newer models refuse max_tokens, and max_tokens for compatible endpoints,
// which support only that; the other one where the service has refused it.
func (p *Provider) params(ask dialect.Ask) openai.ChatCompletionNewParams {
	req := ask.Request
	out := openai.ChatCompletionNewParams{Model: req.Model}
	if !ask.Lacks(dialect.StreamOptions) {
		out.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	}
	if req.Temperature != nil {
		out.Temperature = openai.Float(*req.Temperature)
	}
	p.think(&out, req.Effort)
	if p.service.IsOpenAI() != ask.Lacks(dialect.MaxTokens) {
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

// efforts are the API's names of efforts, where they differ.
var efforts = map[string]string{"max": "xhigh"}

// think sets how long the model thinks.
func (p *Provider) think(out *openai.ChatCompletionNewParams, effort string) {
	switch {
	case effort == "":
	case p.service.SwitchesThinking():
		kind := "enabled"
		if effort == "none" {
			kind = "disabled"
		}
		out.SetExtraFields(map[string]any{"thinking": thinking{kind}})
	default:
		out.ReasoningEffort = shared.ReasoningEffort(cmp.Or(efforts[effort], effort))
	}
}

// thinking is the field with which Z.ai and Kimi switch thinking on and off.
type thinking struct {
	Type string `json:"type"`
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
// message into one for each tool result and one for its text and images. The API takes
// no images in the result of a tool, so those follow in the user's message.
func messages(m model.Message) []openai.ChatCompletionMessageParamUnion {
	if m.Role == model.Assistant {
		return []openai.ChatCompletionMessageParamUnion{assistant(m)}
	}
	var out []openai.ChatCompletionMessageParamUnion
	var images []openai.ChatCompletionContentPartUnionParam
	text := ""
	for _, b := range m.Content {
		for _, i := range b.Images {
			images = append(images, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: dataURL(i)}))
		}
		switch {
		case b.Kind == model.Picture:
		case b.Kind == model.Text:
			text = join(text, b.Text)
		case b.IsError:
			// The API has no mark for a tool that failed.
			out = append(out, openai.ToolMessage("error: "+b.Text, b.CallID))
		default:
			out = append(out, openai.ToolMessage(b.Text, b.CallID))
		}
	}
	switch {
	case len(images) > 0 && text != "":
		out = append(out, openai.UserMessage(append([]openai.ChatCompletionContentPartUnionParam{openai.TextContentPart(text)}, images...)))
	case len(images) > 0:
		out = append(out, openai.UserMessage(images))
	case text != "" || len(out) == 0:
		out = append(out, openai.UserMessage(text))
	}
	return out
}

// assistant converts an assistant message with its thinking and its tool calls. The
// thinking goes back in the field in which it came.
func assistant(m model.Message) openai.ChatCompletionMessageParamUnion {
	out := &openai.ChatCompletionAssistantMessageParam{}
	text := ""
	for _, b := range m.Content {
		switch b.Kind {
		case model.Text:
			text = join(text, b.Text)
		case model.Thinking:
			if b.Thought.ID == reasoningDetails && json.Valid([]byte(b.Thought.Sealed)) {
				out.SetExtraFields(map[string]any{reasoningDetails: json.RawMessage(b.Thought.Sealed)})
			} else {
				out.SetExtraFields(map[string]any{cmp.Or(b.Thought.ID, reasoningContent): b.Text})
			}
		default:
			out.ToolCalls = append(out.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
					ID:       b.CallID,
					Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: b.Tool, Arguments: string(b.Input)},
				},
			})
		}
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
