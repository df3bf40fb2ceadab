// Package messages calls the Anthropic Messages API through the official SDK. The
// providers anthropic and bedrock share it.
package messages

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"choiros/internal/model"
	"choiros/internal/model/dialect"
)

// Params converts a request into the API's form. It marks the tools, the system prompt
// and the last message for the provider's cache, so that a growing conversation pays the
// full price only for new messages.
func Params(ask dialect.Ask) anthropic.MessageNewParams {
	req := ask.Request
	p := anthropic.MessageNewParams{
		Model:     anthropic.Model(req.Model),
		MaxTokens: int64(req.MaxTokens),
		Tools:     tools(req.Tools),
	}
	if req.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: req.System, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	}
	for i, m := range req.Messages {
		if onlyThinks(m) {
			continue // the API refuses a message that ends with thinking
		}
		p.Messages = append(p.Messages, message(m, i == len(req.Messages)-1))
	}
	switch req.ToolChoice {
	case "", "auto":
	case "any":
		p.ToolChoice = anthropic.ToolChoiceUnionParam{OfAny: &anthropic.ToolChoiceAnyParam{}}
	default:
		p.ToolChoice = anthropic.ToolChoiceParamOfTool(req.ToolChoice)
	}
	if req.Temperature != nil {
		p.Temperature = anthropic.Float(*req.Temperature)
	}
	think(&p, &req)
	if ask.Lacks(dialect.CacheControl) {
		unmark(&p)
	}
	return p
}

// budgeted matches the models of Claude that think within a number of tokens. Later ones
// choose it themselves, and take an effort.
var budgeted = regexp.MustCompile(`claude-(3|opus-4(-[015])?|sonnet-4(-[05])?|haiku-4(-5)?)(-\d{8}|-latest|-v\d|@|:|$)`)

// shares are the parts of an answer's tokens that a model may think with, by effort.
var shares = map[string]float64{"low": 0.2, "medium": 0.5, "high": 0.75, "max": 0.9}

// minThinking is the minimum of tokens for thinking that the API accepts.
const minThinking = 1024

// think sets how the model thinks.
func think(p *anthropic.MessageNewParams, req *model.Request) {
	budget := int64(float64(req.MaxTokens) * shares[req.Effort])
	switch {
	case req.Effort == "":
	case req.Effort == "none":
		off := anthropic.NewThinkingConfigDisabledParam()
		p.Thinking = anthropic.ThinkingConfigParamUnion{OfDisabled: &off}
	case strings.Contains(req.Model, "claude") && !budgeted.MatchString(req.Model):
		p.Thinking = anthropic.ThinkingConfigParamUnion{OfAdaptive: &anthropic.ThinkingConfigAdaptiveParam{}}
		p.OutputConfig.Effort = anthropic.OutputConfigEffort(req.Effort)
	case budget >= minThinking && !lacksThinking(req.Messages):
		p.Thinking = anthropic.ThinkingConfigParamOfEnabled(budget)
	}
}

// lacksThinking reports whether the answer that the tool results belong to was given
// without thinking, by another model or under another setting. The API then refuses to
// think on.
func lacksThinking(messages []model.Message) bool {
	for _, m := range slices.Backward(messages) {
		if m.Role == model.Assistant {
			return m.Content[0].Kind != model.Thinking
		}
		if !slices.ContainsFunc(m.Content, func(b model.Block) bool { return b.Kind == model.ToolResult }) {
			return false
		}
	}
	return false
}

// onlyThinks reports whether a message has nothing but thinking.
func onlyThinks(m model.Message) bool {
	return !slices.ContainsFunc(m.Content, func(b model.Block) bool { return b.Kind != model.Thinking && (b.Kind != model.Text || b.Text != "") })
}

// unmark removes all marks for the cache.
func unmark(p *anthropic.MessageNewParams) {
	var none anthropic.CacheControlEphemeralParam
	for i := range p.System {
		p.System[i].CacheControl = none
	}
	for _, t := range p.Tools {
		*t.GetCacheControl() = none
	}
	for _, m := range p.Messages {
		for _, b := range m.Content {
			if mark := b.GetCacheControl(); mark != nil {
				*mark = none
			}
		}
	}
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
		for _, m := range b.Images {
			image := anthropic.NewImageBlockBase64(m.MediaType, m.Data)
			r.Content = append(r.Content, anthropic.ToolResultBlockParamContentUnion{OfImage: image.OfImage})
		}
		return anthropic.ContentBlockParamUnion{OfToolResult: r}
	case model.Picture:
		return anthropic.NewImageBlockBase64(b.Images[0].MediaType, b.Images[0].Data)
	case model.Thinking:
		if b.Thought.Sealed != "" {
			return anthropic.NewRedactedThinkingBlock(b.Thought.Sealed)
		}
		return anthropic.NewThinkingBlock(b.Thought.Signature, b.Text)
	}
	return anthropic.NewTextBlock(b.Text)
}
