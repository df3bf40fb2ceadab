package wiretest

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"choiros/internal/model"
)

// event is one message of a stream before framing.
type event struct {
	name string
	data []byte
}

// jsonf formats JSON. Its arguments must be JSON or numbers.
func jsonf(format string, args ...any) []byte { return fmt.Appendf(nil, format, args...) }

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// pieceSize is the maximum of bytes of text or input in one event.
const pieceSize = 9

// pieces splits text into at most pieceSize bytes each, between characters.
func pieces(s string) []string {
	var out []string
	for len(s) > pieceSize {
		n := pieceSize
		for n > 1 && !utf8.RuneStart(s[n]) {
			n--
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return append(out, s)
}

// inputOf returns the input of a tool call as it is streamed. That of a marked call is
// cut off.
func inputOf(b model.Block) string {
	if b.IsError {
		return b.Text
	}
	return string(b.Input)
}

var anthropicStops = map[model.Stop]string{
	model.StopEnd: "end_turn", model.StopTool: "tool_use", model.StopLength: "max_tokens", model.StopRefusal: "refusal",
}

// anthropicEvents returns the events with which the Messages API streams an answer.
func anthropicEvents(r model.Response) []event {
	var out []event
	add := func(name, format string, args ...any) {
		out = append(out, event{name, jsonf(format, args...)})
	}
	add("message_start", `{"type":"message_start","message":{"id":"msg_test","type":"message","role":"assistant","model":%s,"content":[],"stop_reason":null,"stop_sequence":null,"usage":%s}}`,
		quote(r.Model), anthropicUsage(r.Usage, 1))
	add("ping", `{"type":"ping"}`)
	start := func(i int, block string, args ...any) {
		add("content_block_start", `{"type":"content_block_start","index":%d,"content_block":%s}`, i, jsonf(block, args...))
	}
	deltas := func(i int, kind, field, text string) {
		for _, p := range pieces(text) {
			add("content_block_delta", `{"type":"content_block_delta","index":%d,"delta":{"type":%q,%q:%s}}`, i, kind, field, quote(p))
		}
	}
	for i, b := range r.Content {
		switch {
		case b.Kind == model.ToolCall:
			start(i, `{"type":"tool_use","id":%s,"name":%s,"input":{}}`, quote(b.CallID), quote(b.Tool))
			deltas(i, "input_json_delta", "partial_json", inputOf(b))
		case b.Kind == model.Thinking && b.Thought.Sealed != "":
			start(i, `{"type":"redacted_thinking","data":%s}`, quote(b.Thought.Sealed))
		case b.Kind == model.Thinking:
			start(i, `{"type":"thinking","thinking":"","signature":""}`)
			deltas(i, "thinking_delta", "thinking", b.Text)
			add("content_block_delta", `{"type":"content_block_delta","index":%d,"delta":{"type":"signature_delta","signature":%s}}`, i, quote(b.Thought.Signature))
		default:
			start(i, `{"type":"text","text":""}`)
			deltas(i, "text_delta", "text", b.Text)
		}
		add("content_block_stop", `{"type":"content_block_stop","index":%d}`, i)
	}
	add("message_delta", `{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":%d}}`, anthropicStops[r.Stop], r.Usage.Output)
	add("message_stop", `{"type":"message_stop"}`)
	return out
}

// anthropicUsage returns usage as the API's JSON, whose input_tokens exclude cached
// tokens.
func anthropicUsage(u model.Usage, output int64) []byte {
	return jsonf(`{"input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d,"output_tokens":%d}`,
		u.Input-u.CacheRead-u.CacheWrite, u.CacheRead, u.CacheWrite, output)
}

// anthropicMessage returns an answer as the Messages API's JSON body without a stream.
func anthropicMessage(r model.Response) []byte {
	content := []byte{}
	for i, b := range r.Content {
		if i > 0 {
			content = append(content, ',')
		}
		if b.Kind == model.ToolCall {
			content = append(content, jsonf(`{"type":"tool_use","id":%s,"name":%s,"input":%s}`, quote(b.CallID), quote(b.Tool), b.Input)...)
		} else {
			content = append(content, jsonf(`{"type":"text","text":%s}`, quote(b.Text))...)
		}
	}
	return jsonf(`{"id":"msg_test","type":"message","role":"assistant","model":%s,"content":[%s],"stop_reason":%q,"stop_sequence":null,"usage":%s}`,
		quote(r.Model), content, anthropicStops[r.Stop], anthropicUsage(r.Usage, r.Usage.Output))
}

// anthropicError returns an error body of the Messages API.
func anthropicError(kind, message string) []byte {
	return jsonf(`{"type":"error","error":{"type":%s,"message":%s}}`, quote(kind), quote(message))
}

// sse returns each event as a server-sent event.
func sse(events []event) [][]byte {
	out := make([][]byte, 0, len(events))
	for _, e := range events {
		var frame []byte
		if e.name != "" {
			frame = fmt.Appendf(frame, "event: %s\n", e.name)
		}
		out = append(out, fmt.Appendf(frame, "data: %s\n\n", e.data))
	}
	return out
}
