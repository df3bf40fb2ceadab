package modelgw

import (
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

// completionsDelta is the message of an answer, or a piece of it.
type completionsDelta struct {
	Role      string            `json:"role,omitempty"`
	Content   *string           `json:"content,omitempty"`
	ToolCalls []completionsCall `json:"tool_calls,omitempty"`
}

type completionsChoice struct {
	Index        int               `json:"index"`
	Message      *completionsDelta `json:"message,omitempty"`
	Delta        *completionsDelta `json:"delta,omitempty"`
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

func callsOf(r model.Response, stream bool) []completionsCall {
	var out []completionsCall
	for i, b := range r.ToolCalls() {
		c := completionsCall{ID: b.CallID, Type: "function"}
		if stream {
			c.Index = &i
		}
		c.Function.Name, c.Function.Arguments = b.Tool, string(b.Input)
		out = append(out, c)
	}
	return out
}

func textOf(r model.Response) string {
	text := ""
	for _, b := range r.Content {
		if b.Kind == model.Text {
			text += b.Text
		}
	}
	return text
}

// completionsAnswer is an answer without a stream.
func completionsAnswer(r model.Response, created int64) completionsOut {
	text, stop := textOf(r), completionsStops[r.Stop]
	return completionsOut{
		ID: "chatcmpl-choir", Object: "chat.completion", Created: created, Model: r.Model,
		Choices: []completionsChoice{{Message: &completionsDelta{Role: "assistant", Content: &text, ToolCalls: callsOf(r, false)}, FinishReason: &stop}},
		Usage:   completionsUsageOf(r.Usage),
	}
}

// completionsStream writes an answer as the API streams it: text as it comes,
// tool calls whole at the end, because pieces of tool calls carry no ids.
type completionsStream struct {
	eventStream
	model   string
	usage   bool
	created int64
	said    int // bytes of text passed on
}

func (s *completionsStream) chunk(choices []completionsChoice, usage *completionsUsage) {
	s.event("", completionsOut{ID: "chatcmpl-choir", Object: "chat.completion.chunk", Created: s.created, Model: s.model, Choices: choices, Usage: usage})
}

func (s *completionsStream) piece(d completionsDelta) {
	if !s.begun {
		d.Role = "assistant"
	}
	s.chunk([]completionsChoice{{Delta: &d}}, nil)
}

func (s *completionsStream) delta(d model.Delta) {
	if d.Text == "" && s.begun {
		return
	}
	s.said += len(d.Text)
	s.piece(completionsDelta{Content: &d.Text})
}

func (s *completionsStream) finish(resp model.Response, err error) {
	switch {
	case err != nil && !s.begun:
		writeCompletionsError(s.w, err)
		return
	case err != nil:
		s.event("", completionsErrorOf(err))
		return
	}
	if text := textOf(resp); s.said < len(text) {
		left := text[s.said:]
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
