package wiretest

import (
	"encoding/json"
	"maps"

	"choiros/internal/model"
)

var openaiStops = map[model.Stop]string{
	model.StopEnd: "stop", model.StopTool: "tool_calls", model.StopLength: "length", model.StopRefusal: "content_filter",
}

// openaiEvents returns the events with which chat completions stream an answer: text,
// tool calls with their arguments in pieces, the finish reason, the usage and [DONE].
func openaiEvents(r model.Response) []event {
	var out []event
	chunk := func(choices, rest string) {
		out = append(out, event{"", jsonf(`{"id":"chatcmpl-test","object":"chat.completion.chunk","created":1,"model":%s,"choices":[%s]%s}`, quote(r.Model), choices, rest)})
	}
	delta := func(body string) {
		chunk(`{"index":0,"delta":`+body+`,"finish_reason":null}`, "")
	}
	delta(`{"role":"assistant","content":""}`)
	calls := 0
	for _, b := range r.Content {
		if b.Kind == model.Thinking && b.Thought.ID == "reasoning_details" {
			for _, d := range detailPieces(b.Thought.Sealed) {
				delta(`{"reasoning_details":[` + d + `]}`)
			}
			continue
		}
		if b.Kind == model.Thinking {
			for _, p := range pieces(b.Text) {
				delta(`{"` + thinkingField(b) + `":` + quote(p) + `}`)
			}
			continue
		}
		if b.Kind != model.ToolCall {
			for _, p := range pieces(b.Text) {
				delta(`{"content":` + quote(p) + `}`)
			}
			continue
		}
		delta(string(jsonf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`, calls, quote(b.CallID), quote(b.Tool))))
		for _, p := range pieces(inputOf(b)) {
			delta(string(jsonf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, calls, quote(p))))
		}
		calls++
	}
	chunk(string(jsonf(`{"index":0,"delta":{},"finish_reason":%q}`, openaiStops[r.Stop])), "")
	chunk("", string(jsonf(`,"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`,
		r.Usage.Input, r.Usage.Output, r.Usage.Input+r.Usage.Output, r.Usage.CacheRead)))
	return append(out, event{"", []byte("[DONE]")})
}

// detailPieces returns the elements of OpenRouter's reasoning_details as it streams them:
// a text in pieces, and its signature with the last of them alone.
func detailPieces(details string) (out []string) {
	var all []map[string]string
	if json.Unmarshal([]byte(details), &all) != nil {
		panic("wiretest: reasoning_details is a list of objects with texts")
	}
	for _, d := range all {
		for i, p := range pieces(d["text"]) {
			piece := maps.Clone(d)
			if _, ok := d["text"]; ok {
				piece["text"] = p
			}
			if last := len(pieces(d["text"])) - 1; i < last {
				delete(piece, "signature")
			}
			raw, err := json.Marshal(piece)
			if err != nil {
				panic("wiretest: " + err.Error())
			}
			out = append(out, string(raw))
		}
	}
	return out
}

// thinkingField returns the field in which a service streams its thinking.
func thinkingField(b model.Block) string {
	if b.Thought.ID != "" {
		return b.Thought.ID
	}
	return "reasoning_content"
}

// openaiError returns an error body of the chat completions API.
func openaiError(kind, message string) []byte {
	return jsonf(`{"error":{"message":%s,"type":%s,"param":null,"code":null}}`, quote(message), quote(kind))
}
