package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"choiros/internal/model"
	"choiros/internal/model/attempt"
)

// answer assembles an answer from the chunks of a stream.
type answer struct {
	on           func(model.Delta)
	thought      string // the name of the service in its thinking
	resp         model.Response
	thinking     strings.Builder
	field        string // in which the thinking came
	details      []detail
	thoughtOut   bool // the thinking was delivered
	id           string
	text         strings.Builder
	refusal      strings.Builder
	calls        []*partial
	finishReason string
	counted      bool
}

// partial is a tool call that is being received.
type partial struct {
	index    int64
	id, name string
	input    strings.Builder
}

// usage returns the usage reported so far, as the response for an error. Thinking that
// came counts, which nobody else has heard of.
func (a *answer) usage() model.Response {
	u := a.resp.Usage
	u.Output = max(u.Output, attempt.Tokens(a.thinking.Len()))
	return model.Response{Usage: u}
}

// The fields in which services stream thinking: most of them, and OpenRouter.
const (
	reasoningContent = "reasoning_content"
	reasoning        = "reasoning"
)

// think adds the thinking of a chunk to the answer.
func (a *answer) think(d openai.ChatCompletionChunkChoiceDelta) {
	for _, field := range []string{reasoningContent, reasoning} {
		var text string
		raw, ok := d.JSON.ExtraFields[field]
		if !ok || a.field != "" && a.field != field || json.Unmarshal([]byte(raw.Raw()), &text) != nil || text == "" {
			continue
		}
		a.field = field
		a.thinking.WriteString(text)
	}
	if raw, ok := d.JSON.ExtraFields[reasoningDetails]; ok {
		a.addDetails([]byte(raw.Raw()))
	}
}

// hasThought reports whether the answer has thinking of the model so far.
func (a *answer) hasThought() bool { return a.thinking.Len()+len(a.details) > 0 }

// endThinking delivers the thinking before what follows it, once.
func (a *answer) endThinking() {
	if a.thoughtOut || !a.hasThought() {
		return
	}
	a.thoughtOut = true
	b := a.thoughtBlock()
	a.on(model.Delta{Thinking: &b})
}

// thoughtBlock returns the thinking so far.
func (a *answer) thoughtBlock() model.Block {
	t := &model.Thought{Of: a.thought}
	text := a.thinking.String()
	if details, err := json.Marshal(a.details); err == nil && len(a.details) > 0 {
		t.ID, t.Sealed = reasoningDetails, string(details)
		if text == "" {
			text = a.detailsText()
		}
	} else if a.field != reasoningContent {
		t.ID = a.field
	}
	return model.Block{Kind: model.Thinking, Text: text, Thought: t}
}

// applyChunk adds one chunk of the stream to the answer. It returns a failure for a tool
// call without a name.
func (a *answer) applyChunk(c openai.ChatCompletionChunk) *attempt.Failure {
	if c.ID != "" {
		a.id = c.ID
	}
	if c.Model != "" {
		a.resp.Model = c.Model
	}
	if c.JSON.Usage.Valid() {
		a.counted = true
		a.resp.Usage = model.Usage{
			Input: c.Usage.PromptTokens, Output: c.Usage.CompletionTokens,
			CacheRead: c.Usage.PromptTokensDetails.CachedTokens,
		}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		if err := a.delta(choice.Delta); err != nil {
			return err
		}
		if choice.FinishReason != "" {
			a.finishReason = choice.FinishReason
		}
	}
	return nil
}

// delta adds the text, refusal and tool calls of a chunk to the answer.
func (a *answer) delta(d openai.ChatCompletionChunkChoiceDelta) *attempt.Failure {
	a.think(d)
	if d.Content != "" || d.Refusal != "" || len(d.ToolCalls) > 0 {
		a.endThinking()
	}
	if d.Content != "" {
		a.text.WriteString(d.Content)
		a.on(model.Delta{Text: d.Content})
	}
	if d.Refusal != "" {
		a.refusal.WriteString(d.Refusal)
		a.on(model.Delta{Text: d.Refusal})
	}
	for _, t := range d.ToolCalls {
		call, first := a.call(t)
		if call == nil {
			return attempt.Malformed("a tool call has no name")
		}
		call.input.WriteString(t.Function.Arguments)
		piece := model.Delta{Input: t.Function.Arguments}
		if first {
			piece.Tool = call.name
		}
		if piece != (model.Delta{}) {
			a.on(piece)
		}
	}
	return nil
}

// call returns the tool call that a piece belongs to by its index, and creates it for
// the first piece. Some endpoints omit the index of complete calls: a new id then starts
// a new call. nil: the first piece has no name.
func (a *answer) call(t openai.ChatCompletionChunkChoiceDeltaToolCall) (call *partial, first bool) {
	for _, c := range a.calls {
		if c.index == t.Index && (t.ID == "" || c.id == t.ID) {
			return c, false
		}
	}
	if t.Function.Name == "" {
		return nil, false
	}
	call = &partial{index: t.Index, id: t.ID, name: t.Function.Name}
	a.calls = append(a.calls, call)
	return call, true
}

var stops = map[string]model.Stop{"length": model.StopLength, "content_filter": model.StopRefusal}

// finish returns the complete answer. It leaves out a tool call whose arguments the
// token limit cut off, because it cannot be executed.
func (a *answer) finish() (model.Response, error) {
	a.resp.Stop = model.StopEnd
	a.endThinking()
	if a.hasThought() {
		a.resp.Content = append(a.resp.Content, a.thoughtBlock())
	}
	if text := a.text.String() + a.refusal.String(); text != "" {
		a.resp.Content = append(a.resp.Content, model.Block{Kind: model.Text, Text: text})
	}
	if a.refusal.Len() > 0 {
		a.resp.Stop = model.StopRefusal
	}
	for i, c := range a.calls {
		id := c.id
		if id == "" {
			id = fmt.Sprintf("call_%s_%d", a.id, i)
		}
		call, whole := attempt.Call(model.Block{Kind: model.ToolCall, CallID: id, Tool: c.name}, c.input.String())
		if !whole && a.finishReason == "length" {
			continue
		}
		a.resp.Content = append(a.resp.Content, call)
		a.resp.Stop = model.StopTool
	}
	if s, ok := stops[a.finishReason]; ok {
		a.resp.Stop = s
	}
	return a.resp, nil
}

// failure converts an error of the SDK. It uses only the provider's own message, because
// the rest contains the request with its key.
func failure(ctx context.Context, err error) *attempt.Failure {
	var api *openai.Error
	if errors.As(err, &api) {
		kind := api.Code
		if kind == "" {
			kind = api.Type
		}
		message := api.Message
		if message == "" {
			message = api.RawJSON()
		}
		f := attempt.Status(api.StatusCode, api.Response.Header, kind, message)
		f.Param = api.Param
		return f
	}
	var inside *ssestream.StreamError
	if errors.As(err, &inside) {
		return event(inside.Event.Data)
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return attempt.Malformed(err.Error())
	}
	return attempt.Broken(ctx, err)
}

// event returns the failure for an error event within a stream. Endpoints write the
// error as an object or as text.
func event(raw []byte) *attempt.Failure {
	var body struct {
		Error struct {
			Message string          `json:"message"`
			Type    string          `json:"type"`
			Code    json.RawMessage `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(raw, &body) != nil {
		return attempt.Event("", string(raw))
	}
	return attempt.Event(body.Error.Type, body.Error.Message)
}
