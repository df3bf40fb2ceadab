// Package messages calls the Anthropic Messages API through the official SDK. The
// providers anthropic and bedrock share it.
package messages

import (
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"choiros/internal/model"
)

// Params converts a request into the API's form. It marks the tools, the system prompt
// and the last message for the provider's cache, so that a growing conversation pays the
// full price only for new messages.
func Params(req model.Request) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{
		Model:     anthropic.Model(req.Model),
		MaxTokens: int64(req.MaxTokens),
		Tools:     tools(req.Tools),
	}
	if req.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: req.System, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	}
	for i, m := range req.Messages {
		p.Messages = append(p.Messages, message(m, i == len(req.Messages)-1))
	}
	switch req.ToolChoice {
	case "", "auto":
	case "any":
		p.ToolChoice = anthropic.ToolChoiceUnionParam{OfAny: &anthropic.ToolChoiceAnyParam{}}
	default:
		p.ToolChoice = anthropic.ToolChoiceParamOfTool(req.ToolChoice)
	}
	return p
}

func tools(defs []model.ToolDef) []anthropic.ToolUnionParam {
	out := make([]anthropic.ToolUnionParam, 0, len(defs))
	for i, d := range defs {
		t := anthropic.ToolParam{
			Name:        d.Name,
			Description: anthropic.String(d.Description),
			InputSchema: param.Override[anthropic.ToolInputSchemaParam](d.Schema),
		}
		if i == len(defs)-1 {
			t.CacheControl = anthropic.NewCacheControlEphemeralParam()
		}
		out = append(out, anthropic.ToolUnionParam{OfTool: &t})
	}
	return out
}

func message(m model.Message, last bool) anthropic.MessageParam {
	out := anthropic.MessageParam{Role: anthropic.MessageParamRole(m.Role)}
	for _, b := range m.Content {
		if b.Kind == model.Text && b.Text == "" {
			continue // the API refuses empty text
		}
		out.Content = append(out.Content, block(b))
	}
	if n := len(out.Content); last && n > 0 {
		if cache := out.Content[n-1].GetCacheControl(); cache != nil {
			*cache = anthropic.NewCacheControlEphemeralParam()
		}
	}
	return out
}

func block(b model.Block) anthropic.ContentBlockParamUnion {
	switch b.Kind {
	case model.ToolCall:
		return anthropic.NewToolUseBlock(b.CallID, json.RawMessage(b.Input), b.Tool)
	case model.ToolResult:
		r := &anthropic.ToolResultBlockParam{ToolUseID: b.CallID, IsError: anthropic.Bool(b.IsError)}
		if b.Text != "" {
			r.Content = []anthropic.ToolResultBlockParamContentUnion{{OfText: &anthropic.TextBlockParam{Text: b.Text}}}
		}
		return anthropic.ContentBlockParamUnion{OfToolResult: r}
	}
	return anthropic.NewTextBlock(b.Text)
}
