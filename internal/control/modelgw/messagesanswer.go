package modelgw

import (
	"encoding/json"

	"choiros/internal/choir"
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

// messagesHead returns an empty assistant message of a model, named by its call.
func messagesHead(call choir.ID, name string) messagesMessageOut {
	return messagesMessageOut{ID: "msg_" + string(call), Type: "message", Role: "assistant", Model: name, Content: []messagesBlock{}}
}

// messagesAnswer converts a response into the JSON body of an answer that is not
// streamed.
func messagesAnswer(call choir.ID, r model.Response) messagesMessageOut {
	out := messagesHead(call, r.Model)
	for _, b := range r.Content {
		out.Content = append(out.Content, messagesBlockOf(b))
	}
	stop := messagesStops[r.Stop]
	out.StopReason, out.Usage = &stop, messagesUsageOf(r.Usage)
	return out
}

func messagesBlockOf(b model.Block) messagesBlock {
	if b.Kind == model.ToolCall {
		return messagesBlock{messagesPart: messagesPart{Type: "tool_use"}, ID: b.CallID, Name: b.Tool, Input: b.Input}
	}
	if b.Kind == model.Thinking {
		return messagesThinking(b)
	}
	return messagesBlock{messagesPart: messagesPart{Type: "text", Text: b.Text}}
}

// messagesThinking returns a thinking block with its sealed thought.
func messagesThinking(b model.Block) messagesBlock {
	if b.Text == "" {
		return messagesBlock{messagesPart: messagesPart{Type: "redacted_thinking"}, Data: sealThought(b.Thought)}
	}
	return messagesBlock{messagesPart: messagesPart{Type: "thinking"}, Thinking: b.Text, Signature: sealThought(b.Thought)}
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
		// Thinking and Signature are encoded even if they are empty.
		Thinking  *string `json:"thinking,omitempty"`
		Signature *string `json:"signature,omitempty"`
		Data      string  `json:"data,omitempty"`
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
		Thinking    string `json:"thinking,omitempty"`
		Signature   string `json:"signature,omitempty"`
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
// and thinking once it is whole, until the first tool call; everything after it is sent
// whole at the end, because the provider's pieces of tool calls carry no ids.
type messagesStream struct {
	eventStream
	told
	called
	model string
	text  bool // the block at index is open and is text
	index int  // of the next block, or of the open one
}

// start writes message_start, once.
func (s *messagesStream) start() {
	if s.begun {
		return
	}
	s.event("message_start", messageStart{"message_start", messagesHead(s.call, s.model)})
}

// delta writes a piece of the answer, or a ping from the first tool call on.
func (s *messagesStream) delta(d model.Delta) {
	s.start()
	switch {
	case !s.note(d):
		s.event("ping", bareEvent{"ping"})
	case d.Thinking != nil:
		s.closeText()
		s.block(*d.Thinking)
	default:
		if !s.text {
			s.text = true
			s.open(model.Block{Kind: model.Text})
		}
		s.piece(deltaInner{Type: "text_delta", Text: d.Text})
	}
}

// open writes the start of a content block.
func (s *messagesStream) open(b model.Block) {
	start := startBlock{Type: "text", Text: new(string)}
	switch {
	case b.Kind == model.ToolCall:
		start = startBlock{Type: "tool_use", ID: b.CallID, Name: b.Tool, Input: json.RawMessage("{}")}
	case b.Kind == model.Thinking && b.Text == "":
		start = startBlock{Type: "redacted_thinking", Data: sealThought(b.Thought)}
	case b.Kind == model.Thinking:
		start = startBlock{Type: "thinking", Thinking: new(string), Signature: new(string)}
	}
	s.event("content_block_start", blockStart{"content_block_start", s.index, start})
}

// piece writes a piece of the open block.
func (s *messagesStream) piece(d deltaInner) {
	s.event("content_block_delta", blockDelta{"content_block_delta", s.index, d})
}

// shut writes the end of the open block.
func (s *messagesStream) shut() {
	s.event("content_block_stop", blockStop{"content_block_stop", s.index})
	s.index++
}

// closeText ends the text block that is open, if there is one.
func (s *messagesStream) closeText() {
	if s.text {
		s.text = false
		s.shut()
	}
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
	rest := s.rest(resp.Content)
	if s.text && len(rest) > 0 && rest[0].Kind == model.Text { // the end of the open one
		s.piece(deltaInner{Type: "text_delta", Text: rest[0].Text})
		rest = rest[1:]
	}
	s.closeText()
	for _, b := range rest {
		s.block(b)
	}
	var last messageDelta
	last.Type, last.Delta.StopReason, last.Usage = "message_delta", messagesStops[resp.Stop], messagesUsageOf(resp.Usage)
	s.event("message_delta", last)
	s.event("message_stop", bareEvent{"message_stop"})
}

// block writes a content block whole.
func (s *messagesStream) block(b model.Block) {
	s.open(b)
	switch {
	case b.Kind == model.ToolCall:
		s.piece(deltaInner{Type: "input_json_delta", PartialJSON: string(b.Input)})
	case b.Kind == model.Thinking && b.Text != "":
		s.piece(deltaInner{Type: "thinking_delta", Thinking: b.Text})
		s.piece(deltaInner{Type: "signature_delta", Signature: sealThought(b.Thought)})
	case b.Kind == model.Text:
		s.piece(deltaInner{Type: "text_delta", Text: b.Text})
	}
	s.shut()
}
