package modelgw

import (
	"choiros/internal/choir"
	"choiros/internal/model"
)

var completionsStops = map[model.Stop]string{
	model.StopEnd: "stop", model.StopTool: "tool_calls", model.StopLength: "length", model.StopRefusal: "content_filter",
}

type completionsUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	Details    struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func completionsUsageOf(u model.Usage) *completionsUsage {
	out := &completionsUsage{Prompt: u.Input, Completion: u.Output, Total: u.Input + u.Output}
	out.Details.Cached = u.CacheRead
	return out
}

// completionsDelta is an assistant message, or a streamed piece of one.
type completionsDelta struct {
	Role      string            `json:"role,omitempty"`
	Content   *string           `json:"content,omitempty"`
	Reasoning string            `json:"reasoning_content,omitempty"`
	ToolCalls []completionsCall `json:"tool_calls,omitempty"`
}

// completionsWhole is an assistant message that is not streamed.
type completionsWhole struct {
	completionsDelta
	Refusal *string `json:"refusal"`
}

type completionsChoice struct {
	Index        int               `json:"index"`
	Message      *completionsWhole `json:"message,omitempty"`
	Delta        *completionsDelta `json:"delta,omitempty"`
	Logprobs     *struct{}         `json:"logprobs"`
	FinishReason *string           `json:"finish_reason"`
}

type completionsOut struct {
	ID      string              `json:"id"`
	Object  string              `json:"object"`
	Created int64               `json:"created"`
	Model   string              `json:"model"`
	Choices []completionsChoice `json:"choices"`
	Usage   *completionsUsage   `json:"usage,omitempty"`
}

// callsOf converts the tool calls of an answer. For a stream each has its index.
func callsOf(r model.Response, stream bool) []completionsCall {
	var out []completionsCall
	for i, b := range r.ToolCalls() {
		c := completionsCall{ID: b.CallID, Type: "function"}
		if stream {
			c.Index = &i
		}
		c.Function.Name, c.Function.Arguments = b.Tool, string(b.Input)
		if b.IsError {
			c.Function.Arguments = b.Text // half an input, as the model gave it
		}
		out = append(out, c)
	}
	return out
}

// textOf returns all text of an answer.
func textOf(r model.Response) string {
	text := ""
	for _, b := range r.Content {
		if b.Kind == model.Text {
			text += b.Text
		}
	}
	return text
}

// thinkingOf returns the thinking of an answer.
func thinkingOf(content []model.Block) string {
	text := ""
	for _, b := range content {
		if b.Kind == model.Thinking {
			text += b.Text
		}
	}
	return text
}

// completionsAnswer converts a response into the JSON body of an answer that is not
// streamed. created is in Unix seconds.
func completionsAnswer(call choir.ID, r model.Response, created int64) completionsOut {
	text, stop := textOf(r), completionsStops[r.Stop]
	said := completionsDelta{Role: "assistant", Content: &text, Reasoning: thinkingOf(r.Content), ToolCalls: callsOf(r, false)}
	return completionsOut{
		ID: "chatcmpl-" + string(call), Object: "chat.completion", Created: created, Model: r.Model,
		Choices: []completionsChoice{{Message: &completionsWhole{completionsDelta: said}, FinishReason: &stop}},
		Usage:   completionsUsageOf(r.Usage),
	}
}

// completionsStream writes a response as the API's event stream: text as it arrives,
// tool calls whole at the end, because the provider's pieces of tool calls carry no ids.
type completionsStream struct {
	eventStream
	told
	called
	model   string
	usage   bool
	created int64
}

// chunk writes one chunk of the stream.
func (s *completionsStream) chunk(choices []completionsChoice, usage *completionsUsage) {
	s.event("", completionsOut{ID: "chatcmpl-" + string(s.call), Object: "chat.completion.chunk", Created: s.created, Model: s.model, Choices: choices, Usage: usage})
}

// piece writes a chunk with a delta; the first one has the role.
func (s *completionsStream) piece(d completionsDelta) {
	if !s.begun {
		d.Role = "assistant"
	}
	s.chunk([]completionsChoice{{Delta: &d}}, nil)
}

// delta writes a streamed piece of text, or thinking.
func (s *completionsStream) delta(d model.Delta) {
	switch now := s.note(d); {
	case now && d.Thinking != nil:
		s.piece(completionsDelta{Reasoning: d.Thinking.Text})
	case now:
		s.piece(completionsDelta{Content: &d.Text})
	case !s.begun:
		s.piece(completionsDelta{Content: new(string)})
	}
}

// finish writes the rest of the answer and the end of the stream, or the error; as a
// status code if nothing was written.
func (s *completionsStream) finish(resp model.Response, err error) {
	switch {
	case err != nil && !s.begun:
		writeCompletionsError(s.w, err)
		return
	case err != nil:
		s.event("", completionsErrorOf(err))
		return
	}
	rest := s.rest(resp.Content)
	if thinking := thinkingOf(rest); thinking != "" {
		s.piece(completionsDelta{Reasoning: thinking})
	}
	if left := textOf(model.Response{Content: rest}); left != "" {
		s.piece(completionsDelta{Content: &left})
	}
	if calls := callsOf(resp, true); len(calls) > 0 {
		s.piece(completionsDelta{ToolCalls: calls})
	}
	stop := completionsStops[resp.Stop]
	s.chunk([]completionsChoice{{Delta: &completionsDelta{}, FinishReason: &stop}}, nil)
	if s.usage {
		s.chunk([]completionsChoice{}, completionsUsageOf(resp.Usage))
	}
	s.raw("", []byte("[DONE]"))
}
