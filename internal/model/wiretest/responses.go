package wiretest

import (
	"strings"

	"choiros/internal/model"
)

// responsesEvents returns the events with which the Responses API streams an answer:
// each item as it begins, in pieces, and whole, then the response with its usage.
func responsesEvents(r model.Response) []event {
	var out []event
	add := func(name, format string, args ...any) {
		out = append(out, event{name, jsonf(`{"type":%q,"sequence_number":%d,%s}`, name, len(out), jsonf(format, args...))})
	}
	deltas := func(name string, i int, id, rest, text string) {
		for _, p := range pieces(text) {
			add(name, `"output_index":%d,"item_id":%s,%s"delta":%s`, i, quote(id), rest, quote(p))
		}
	}
	head := func(status, rest string) string {
		return string(jsonf(`"response":{"id":"resp_test","object":"response","created_at":1,"status":%q,"model":%s,"output":[]%s}`, status, quote(r.Model), rest))
	}
	add("response.created", "%s", head("in_progress", ""))
	for i, b := range r.Content {
		id := string(jsonf("item_%d", i))
		began, whole := responsesItem(b, id, r.Stop)
		add("response.output_item.added", `"output_index":%d,"item":%s`, i, began)
		switch b.Kind {
		case model.ToolCall:
			deltas("response.function_call_arguments.delta", i, id, "", inputOf(b))
		case model.Thinking:
			deltas("response.reasoning_summary_text.delta", i, b.Thought.ID, `"summary_index":0,`, b.Text)
		default:
			deltas("response."+textPart(r.Stop)+".delta", i, id, `"content_index":0,`, b.Text)
		}
		add("response.output_item.done", `"output_index":%d,"item":%s`, i, whole)
	}
	usage := string(jsonf(`,"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}`,
		r.Usage.Input, r.Usage.CacheRead, r.Usage.Output, r.Usage.Input+r.Usage.Output))
	if r.Stop == model.StopLength {
		add("response.incomplete", "%s", head("incomplete", `,"incomplete_details":{"reason":"max_output_tokens"}`+usage))
	} else {
		add("response.completed", "%s", head("completed", usage))
	}
	return out
}

// textPart returns the kind of the part that holds an answer's text.
func textPart(stop model.Stop) string {
	if stop == model.StopRefusal {
		return "refusal"
	}
	return "output_text"
}

// responsesItem returns the item of a block as it begins and whole.
func responsesItem(b model.Block, id string, stop model.Stop) (began, whole []byte) {
	switch b.Kind {
	case model.ToolCall:
		item := func(input, status string) []byte {
			return jsonf(`{"id":%q,"type":"function_call","call_id":%s,"name":%s,"arguments":%s,"status":%q}`, id, quote(b.CallID), quote(b.Tool), quote(input), status)
		}
		return item("", "in_progress"), item(inputOf(b), "completed")
	case model.Thinking:
		return jsonf(`{"id":%s,"type":"reasoning","summary":[]}`, quote(b.Thought.ID)),
			jsonf(`{"id":%s,"type":"reasoning","summary":[{"type":"summary_text","text":%s}],"encrypted_content":%s}`, quote(b.Thought.ID), quote(b.Text), quote(b.Thought.Sealed))
	}
	part := textPart(stop)
	field := strings.TrimPrefix(part, "output_")
	return jsonf(`{"id":%q,"type":"message","role":"assistant","status":"in_progress","content":[]}`, id),
		jsonf(`{"id":%q,"type":"message","role":"assistant","status":"completed","content":[{"type":%q,%q:%s,"annotations":[]}]}`, id, part, field, quote(b.Text))
}
