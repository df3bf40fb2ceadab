package openai

import (
	"slices"
	"strings"

	"github.com/openai/openai-go/v3/responses"

	"choiros/internal/model"
	"choiros/internal/model/attempt"
)

// items assembles an answer from the events of the Responses API. What was streamed is
// passed on as it comes; the answer is made of the whole items.
type items struct {
	on       func(model.Delta)
	thought  string
	resp     model.Response
	thinking int // bytes of thinking of which no item has come
	refused  bool
	closed   bool
}

// counted returns the usage so far, as the response for an error. Thinking that came
// counts, which nobody else has heard of.
func (a *items) counted() model.Response {
	u := a.resp.Usage
	u.Output = max(u.Output, attempt.Tokens(a.thinking))
	return model.Response{Usage: u}
}

// applyEvent adds one event of the stream to the answer. It returns the failure that the
// event tells.
func (a *items) applyEvent(e responses.ResponseStreamEventUnion) *attempt.Failure {
	switch e.Type {
	case "response.output_item.added":
		if e.Item.Type == "function_call" {
			a.on(model.Delta{Tool: e.Item.Name})
		}
	case "response.output_text.delta", "response.refusal.delta":
		a.on(model.Delta{Text: e.Delta})
	case "response.function_call_arguments.delta":
		a.on(model.Delta{Input: e.Delta})
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		a.thinking += len(e.Delta)
	case "response.output_item.done":
		a.item(e.Item)
	case "response.completed", "response.incomplete":
		a.finish(e.Response)
	case "response.failed":
		return attempt.Event(string(e.Response.Error.Code), e.Response.Error.Message)
	case "error":
		return attempt.Event(e.Code, e.Message)
	}
	return nil
}

// item adds a whole item to the answer.
func (a *items) item(i responses.ResponseOutputItemUnion) {
	switch i.Type {
	case "message":
		for _, part := range i.Content {
			text := part.Text
			if part.Type == "refusal" {
				a.refused, text = true, part.Refusal
			}
			if text != "" {
				a.resp.Content = append(a.resp.Content, model.Block{Kind: model.Text, Text: text})
			}
		}
	case "function_call":
		call, _ := attempt.Call(model.Block{Kind: model.ToolCall, CallID: i.CallID, Tool: i.Name}, i.AsFunctionCall().Arguments)
		a.resp.Content = append(a.resp.Content, call)
	case "reasoning":
		a.reasoning(i.AsReasoning())
	}
}

// reasoning adds thinking to the answer: its summary, or all of it where the service
// tells it.
func (a *items) reasoning(i responses.ResponseReasoningItem) {
	var parts []string
	for _, s := range i.Summary {
		parts = append(parts, s.Text)
	}
	for _, c := range i.Content {
		parts = append(parts, c.Text)
	}
	b := model.Block{Kind: model.Thinking, Text: strings.Join(parts, "\n\n"), Thought: &model.Thought{Of: a.thought, ID: i.ID, Sealed: i.EncryptedContent}}
	a.thinking = 0
	a.on(model.Delta{Thinking: &b})
	a.resp.Content = append(a.resp.Content, b)
}

// finish adds the end of the answer: why it ended and what it used.
func (a *items) finish(r responses.Response) {
	a.closed = true
	if r.Model != "" {
		a.resp.Model = r.Model
	}
	a.resp.Usage = model.Usage{
		Input: r.Usage.InputTokens, Output: r.Usage.OutputTokens, CacheRead: r.Usage.InputTokensDetails.CachedTokens,
	}
	a.resp.Stop = model.StopEnd
	if len(a.resp.ToolCalls()) > 0 {
		a.resp.Stop = model.StopTool
	}
	switch {
	case a.refused || r.IncompleteDetails.Reason == "content_filter":
		a.resp.Stop = model.StopRefusal
	case r.Status == responses.ResponseStatusIncomplete:
		a.resp.Stop = model.StopLength
		a.dropBroken()
	}
}

// dropBroken removes the tool calls whose input the token limit cut off.
func (a *items) dropBroken() {
	a.resp.Content = slices.DeleteFunc(a.resp.Content, func(b model.Block) bool { return b.Kind == model.ToolCall && b.IsError })
}
