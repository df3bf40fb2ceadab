package messages

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"choiros/internal/model"
	"choiros/internal/model/attempt"
	"choiros/internal/model/dialect"
)

// MediaType is the media type of the API's streams.
const MediaType = "text/event-stream"

// Stream calls the model once and passes pieces of the answer to on. thought is the name
// of the service in the thinking of its models. The error is an *attempt.Failure.
func Stream(ctx context.Context, thought string, ask dialect.Ask, on func(model.Delta), opts ...option.RequestOption) (model.Response, error) {
	opts = append(opts, option.WithMaxRetries(0), option.WithoutOpenTelemetry())
	service := anthropic.NewMessageService(opts...)
	stream := service.NewStreaming(ctx, Params(ask))
	defer stream.Close()
	a := answer{on: on, thought: thought, resp: model.Response{Model: ask.Model}}
	for stream.Next() {
		if err := a.applyEvent(stream.Current()); err != nil {
			return a.counted(), err
		}
	}
	if err := stream.Err(); err != nil && !a.closed {
		return a.counted(), failure(ctx, err)
	}
	if !a.closed {
		return a.counted(), attempt.Cut()
	}
	return a.finish()
}

// failure converts an error of the SDK. It uses only the provider's own message, because
// the rest contains the request with its key.
func failure(ctx context.Context, err error) *attempt.Failure {
	var api *anthropic.Error
	if errors.As(err, &api) {
		kind, message := reason(api.RawJSON())
		if api.StatusCode < 300 {
			return attempt.Event(kind, message)
		}
		return attempt.Status(api.StatusCode, api.Response.Header, kind, message)
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return attempt.Malformed(err.Error())
	}
	return attempt.Broken(ctx, err)
}

// reason returns kind and message of an error body in JSON. Bedrock's bodies have only a
// message.
func reason(raw string) (kind, message string) {
	var body struct {
		Message string `json:"message"`
		Error   struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(raw), &body) != nil {
		return "", raw
	}
	if body.Error.Message == "" && body.Error.Type == "" {
		return "", body.Message
	}
	return body.Error.Type, body.Error.Message
}

// answer assembles an answer from the events of a stream.
type answer struct {
	on      func(model.Delta)
	thought string
	resp    model.Response
	blocks  []partial
	stop    anthropic.StopReason
	closed  bool
}

// partial is a content block that is being received.
type partial struct {
	model.Block
	input bytes.Buffer
	shut  bool
}

// counted returns the usage reported so far, as the response for an error. Thinking that
// came counts, which nobody else has heard of.
func (a *answer) counted() model.Response {
	thinking := 0
	for i := range a.blocks {
		if a.blocks[i].Kind == model.Thinking {
			thinking += len(a.blocks[i].Text)
		}
	}
	u := a.resp.Usage
	u.Output = max(u.Output, attempt.Tokens(thinking))
	return model.Response{Usage: u}
}

// applyEvent adds one event of the stream to the answer. It returns a failure for an
// event out of order.
func (a *answer) applyEvent(e anthropic.MessageStreamEventUnion) *attempt.Failure {
	switch e.Type {
	case "message_start":
		if e.Message.Model != "" {
			a.resp.Model = string(e.Message.Model)
		}
		u := e.Message.Usage
		a.count(u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens)
	case "content_block_start":
		return a.start(e)
	case "content_block_delta":
		return a.piece(e)
	case "content_block_stop":
		if e.Index < 0 || int(e.Index) >= len(a.blocks) {
			return attempt.Malformed("a content block ends that never began")
		}
		b := &a.blocks[e.Index]
		if b.Kind == model.Thinking && !b.shut {
			whole := b.Block
			a.on(model.Delta{Thinking: &whole})
		}
		b.shut = true
	case "message_delta":
		a.stop = e.Delta.StopReason
		u := e.Usage
		a.count(u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens)
	case "message_stop":
		a.closed = true
	}
	return nil
}

// count updates the usage. The counts of an event are totals; counts of zero do not
// reset earlier ones.
func (a *answer) count(input, read, write, output int64) {
	u := &a.resp.Usage
	if input+read+write > 0 {
		u.Input, u.CacheRead, u.CacheWrite = input+read+write, read, write
	}
	u.Output = max(u.Output, output)
}

// start adds the content block that an event begins.
func (a *answer) start(e anthropic.MessageStreamEventUnion) *attempt.Failure {
	if int(e.Index) != len(a.blocks) {
		return attempt.Malformed("a content block comes out of order")
	}
	began := e.ContentBlock
	b := partial{Block: model.Block{Kind: model.Text, Text: began.Text}}
	switch began.Type {
	case "tool_use":
		b.Block = model.Block{Kind: model.ToolCall, CallID: began.ID, Tool: began.Name}
		a.on(model.Delta{Tool: b.Tool})
	case "thinking", "redacted_thinking":
		b.Block = model.Block{Kind: model.Thinking, Text: began.Thinking, Thought: &model.Thought{Of: a.thought, Signature: began.Signature, Sealed: began.Data}}
	default:
		if b.Text != "" {
			a.on(model.Delta{Text: b.Text})
		}
	}
	a.blocks = append(a.blocks, b)
	return nil
}

// piece appends an event's text or input to its open content block.
func (a *answer) piece(e anthropic.MessageStreamEventUnion) *attempt.Failure {
	if e.Index < 0 || int(e.Index) >= len(a.blocks) || a.blocks[e.Index].shut {
		return attempt.Malformed("a piece belongs to no open content block")
	}
	b := &a.blocks[e.Index]
	switch {
	case e.Delta.Type == "text_delta" && b.Kind == model.Text:
		b.Text += e.Delta.Text
		a.on(model.Delta{Text: e.Delta.Text})
	case e.Delta.Type == "input_json_delta" && b.Kind == model.ToolCall:
		b.input.WriteString(e.Delta.PartialJSON)
		a.on(model.Delta{Input: e.Delta.PartialJSON})
	case e.Delta.Type == "thinking_delta" && b.Kind == model.Thinking:
		b.Text += e.Delta.Thinking
	case e.Delta.Type == "signature_delta" && b.Kind == model.Thinking:
		b.Thought.Signature += e.Delta.Signature
	}
	return nil
}

var stops = map[anthropic.StopReason]model.Stop{
	anthropic.StopReasonToolUse:                    model.StopTool,
	anthropic.StopReasonMaxTokens:                  model.StopLength,
	anthropic.StopReasonModelContextWindowExceeded: model.StopLength,
	anthropic.StopReasonRefusal:                    model.StopRefusal,
}

// finish returns the complete answer. It leaves out a tool call whose input the token
// limit cut off, because it cannot be executed.
func (a *answer) finish() (model.Response, error) {
	a.resp.Stop = model.StopEnd
	if s, ok := stops[a.stop]; ok {
		a.resp.Stop = s
	}
	for i := range a.blocks {
		b := &a.blocks[i]
		switch {
		case b.Kind == model.ToolCall:
			call, whole := attempt.Call(b.Block, b.input.String())
			if !whole && a.resp.Stop == model.StopLength {
				continue
			}
			a.resp.Content = append(a.resp.Content, call)
		case b.Kind == model.Thinking || b.Text != "":
			a.resp.Content = append(a.resp.Content, b.Block)
		}
	}
	return a.resp, nil
}
