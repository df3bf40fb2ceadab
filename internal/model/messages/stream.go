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
)

// MediaType is what a stream is sent as.
const MediaType = "text/event-stream"

// Stream calls the model once. The error is an *attempt.Failure.
func Stream(ctx context.Context, req model.Request, on func(model.Delta), opts ...option.RequestOption) (model.Response, error) {
	opts = append(opts, option.WithMaxRetries(0), option.WithoutOpenTelemetry())
	service := anthropic.NewMessageService(opts...)
	stream := service.NewStreaming(ctx, Params(req))
	defer stream.Close()
	a := answer{on: on, resp: model.Response{Model: req.Model}}
	for stream.Next() {
		if err := a.take(stream.Current()); err != nil {
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

// failure says what an error of the SDK means. It takes over no part of the
// SDK's error but the provider's words: the rest holds the request with its key.
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

// reason finds kind and message in an error body; Bedrock gives only a message.
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

// answer puts a stream together.
type answer struct {
	on     func(model.Delta)
	resp   model.Response
	blocks []partial
	stop   anthropic.StopReason
	closed bool
}

// partial is a content block that is being received.
type partial struct {
	model.Block
	input bytes.Buffer
	shut  bool
}

// counted is the response that comes with an error: what was counted so far.
func (a *answer) counted() model.Response { return model.Response{Usage: a.resp.Usage} }

func (a *answer) take(e anthropic.MessageStreamEventUnion) *attempt.Failure {
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
		a.blocks[e.Index].shut = true
	case "message_delta":
		a.stop = e.Delta.StopReason
		u := e.Usage
		a.count(u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens)
	case "message_stop":
		a.closed = true
	}
	return nil
}

// count takes over usage; the counts of an event are totals, and an event that
// leaves some out does not take them back.
func (a *answer) count(input, read, write, output int64) {
	u := &a.resp.Usage
	if input+read+write > 0 {
		u.Input, u.CacheRead, u.CacheWrite = input+read+write, read, write
	}
	u.Output = max(u.Output, output)
}

func (a *answer) start(e anthropic.MessageStreamEventUnion) *attempt.Failure {
	if int(e.Index) != len(a.blocks) {
		return attempt.Malformed("a content block comes out of order")
	}
	b := partial{Block: model.Block{Kind: model.Text, Text: e.ContentBlock.Text}}
	if e.ContentBlock.Type == "tool_use" {
		b.Block = model.Block{Kind: model.ToolCall, CallID: e.ContentBlock.ID, Tool: e.ContentBlock.Name}
		a.on(model.Delta{Tool: b.Tool})
	} else if b.Text != "" {
		a.on(model.Delta{Text: b.Text})
	}
	a.blocks = append(a.blocks, b)
	return nil
}

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
	}
	return nil
}

var stops = map[anthropic.StopReason]model.Stop{
	anthropic.StopReasonToolUse:                    model.StopTool,
	anthropic.StopReasonMaxTokens:                  model.StopLength,
	anthropic.StopReasonModelContextWindowExceeded: model.StopLength,
	anthropic.StopReasonRefusal:                    model.StopRefusal,
}

// finish is the whole answer. A tool call whose input the length limit cut off
// is left out: it cannot be made.
func (a *answer) finish() (model.Response, error) {
	a.resp.Stop = model.StopEnd
	if s, ok := stops[a.stop]; ok {
		a.resp.Stop = s
	}
	for i := range a.blocks {
		b := &a.blocks[i]
		if b.Kind == model.Text {
			if b.Text != "" {
				a.resp.Content = append(a.resp.Content, b.Block)
			}
			continue
		}
		b.Input = json.RawMessage(bytes.TrimSpace(b.input.Bytes()))
		if len(b.Input) == 0 {
			b.Input = json.RawMessage("{}")
		}
		if !json.Valid(b.Input) || b.Input[0] != '{' {
			if a.resp.Stop == model.StopLength {
				continue
			}
			return a.counted(), attempt.Malformed("the input of the tool call " + b.Tool + " is no JSON object")
		}
		a.resp.Content = append(a.resp.Content, b.Block)
	}
	return a.resp, nil
}
