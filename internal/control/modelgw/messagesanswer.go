package modelgw

import (
	"encoding/json"

	"choiros/internal/model"
)

var messagesStops = map[model.Stop]string{
	model.StopEnd: "end_turn", model.StopTool: "tool_use", model.StopLength: "max_tokens", model.StopRefusal: "refusal",
}

type messagesUsage struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

// messagesUsageOf converts usage to the API's, whose input excludes cached tokens.
func messagesUsageOf(u model.Usage) messagesUsage {
	return messagesUsage{u.Input - u.CacheRead - u.CacheWrite, u.CacheRead, u.CacheWrite, u.Output}
}

type messagesMessageOut struct {
	ID           string          `json:"id"`
	Type         string          `json:"type"`
	Role         string          `json:"role"`
	Model        string          `json:"model"`
	Content      []messagesBlock `json:"content"`
	StopReason   *string         `json:"stop_reason"`
	StopSequence *string         `json:"stop_sequence"`
	Usage        messagesUsage   `json:"usage"`
}

// messagesHead returns an empty assistant message of a model.
func messagesHead(name string) messagesMessageOut {
	return messagesMessageOut{ID: "msg_choir", Type: "message", Role: "assistant", Model: name, Content: []messagesBlock{}}
}

// messagesAnswer converts a response into the JSON body of an answer that is not
// streamed.
func messagesAnswer(r model.Response) messagesMessageOut {
	out := messagesHead(r.Model)
	for _, b := range r.Content {
		out.Content = append(out.Content, messagesBlockOf(b))
	}
	stop := messagesStops[r.Stop]
	out.StopReason, out.Usage = &stop, messagesUsageOf(r.Usage)
	return out
}

func messagesBlockOf(b model.Block) messagesBlock {
	if b.Kind == model.ToolCall {
		return messagesBlock{Type: "tool_use", ID: b.CallID, Name: b.Tool, Input: b.Input}
	}
	return messagesBlock{Type: "text", Text: b.Text}
}

// The events of a stream.
type (
	messageStart struct {
		Type    string             `json:"type"`
		Message messagesMessageOut `json:"message"`
	}
	blockStart struct {
		Type         string     `json:"type"`
		Index        int        `json:"index"`
		ContentBlock startBlock `json:"content_block"`
	}
	// startBlock encodes text even if it is empty, as the API does.
	startBlock struct {
		Type  string          `json:"type"`
		Text  *string         `json:"text,omitempty"`
		ID    string          `json:"id,omitempty"`
		Name  string          `json:"name,omitempty"`
		Input json.RawMessage `json:"input,omitempty"`
	}
	blockDelta struct {
		Type  string     `json:"type"`
		Index int        `json:"index"`
		Delta deltaInner `json:"delta"`
	}
	deltaInner struct {
		Type        string `json:"type"`
		Text        string `json:"text,omitempty"`
		PartialJSON string `json:"partial_json,omitempty"`
	}
	blockStop struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
	}
	messageDelta struct {
		Type  string `json:"type"`
		Delta struct {
			StopReason   string  `json:"stop_reason"`
			StopSequence *string `json:"stop_sequence"`
		} `json:"delta"`
		Usage messagesUsage `json:"usage"`
	}
	bareEvent struct {
		Type string `json:"type"`
	}
)

// messagesStream writes a response as the API's event stream. Text is sent as it arrives
// until the first tool call; everything after it is sent whole at the end, because the
// provider's pieces of tool calls carry no ids.
type messagesStream struct {
	eventStream
	model string
	text  bool // block 0 is open and is text
	tools bool // a tool call has begun
	sent  int  // bytes of text passed on
}

// start writes message_start, once.
func (s *messagesStream) start() {
	if s.begun {
		return
	}
	s.event("message_start", messageStart{"message_start", messagesHead(s.model)})
}

// delta writes a piece of text, or a ping from the first tool call on.
func (s *messagesStream) delta(d model.Delta) {
	s.start()
	s.tools = s.tools || d.Tool != "" || d.Input != ""
	if s.tools || d.Text == "" {
		s.event("ping", bareEvent{"ping"})
		return
	}
	if !s.text {
		s.text = true
		s.open(0, model.Block{Kind: model.Text})
	}
	s.sent += len(d.Text)
	s.event("content_block_delta", blockDelta{"content_block_delta", 0, deltaInner{Type: "text_delta", Text: d.Text}})
}

// open writes the start of a content block.
func (s *messagesStream) open(index int, b model.Block) {
	start := startBlock{Type: "text", Text: new(string)}
	if b.Kind == model.ToolCall {
		start = startBlock{Type: "tool_use", ID: b.CallID, Name: b.Tool, Input: json.RawMessage("{}")}
	}
	s.event("content_block_start", blockStart{"content_block_start", index, start})
}

// finish writes the rest of the answer and the end of the stream, or the error; as a
// status code if nothing was written.
func (s *messagesStream) finish(resp model.Response, err error) {
	switch {
	case err != nil && !s.begun:
		writeMessagesError(s.w, err)
		return
	case err != nil:
		s.event("error", messagesErrorOf(err))
		return
	}
	s.start()
	for i, b := range s.rest(resp.Content) {
		s.block(i, b)
	}
	var last messageDelta
	last.Type, last.Delta.StopReason, last.Usage = "message_delta", messagesStops[resp.Stop], messagesUsageOf(resp.Usage)
	s.event("message_delta", last)
	s.event("message_stop", bareEvent{"message_stop"})
}

// rest returns the content that is still to be sent, with the text already sent as an
// empty block 0, since streamed pieces do not show where one text block ends and the
// next begins.
func (s *messagesStream) rest(content []model.Block) []model.Block {
	if !s.text {
		return content
	}
	out := []model.Block{{Kind: model.Text}}
	left := s.sent
	for _, b := range content {
		if b.Kind == model.Text && left > 0 {
			n := min(left, len(b.Text))
			left -= n
			b.Text = b.Text[n:]
			if b.Text == "" {
				continue
			}
		}
		out = append(out, b)
	}
	return out
}

// block writes a content block whole. Block 0 of streamed text only gets its end.
func (s *messagesStream) block(i int, b model.Block) {
	if i > 0 || !s.text {
		s.open(i, b)
		piece := deltaInner{Type: "text_delta", Text: b.Text}
		if b.Kind == model.ToolCall {
			piece = deltaInner{Type: "input_json_delta", PartialJSON: string(b.Input)}
		}
		s.event("content_block_delta", blockDelta{"content_block_delta", i, piece})
	}
	s.event("content_block_stop", blockStop{"content_block_stop", i})
}
