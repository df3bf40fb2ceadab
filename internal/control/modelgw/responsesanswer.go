package modelgw

import (
	"encoding/json"
	"fmt"

	"choiros/internal/model"
)

type responsesUsage struct {
	Input        int64 `json:"input_tokens"`
	InputDetails struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output        int64 `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int64 `json:"total_tokens"`
}

// responsesOut is a response object.
type responsesOut struct {
	ID         string            `json:"id"`
	Object     string            `json:"object"`
	CreatedAt  int64             `json:"created_at"`
	Status     string            `json:"status"`
	Model      string            `json:"model"`
	Output     []outItem         `json:"output"`
	Error      *responsesFailure `json:"error"`
	Incomplete *responsesReason  `json:"incomplete_details"`
	Usage      *responsesUsage   `json:"usage"`
	Tools      []struct{}        `json:"tools"`
	Metadata   map[string]string `json:"metadata"`
	ToolChoice string            `json:"tool_choice"`
	Parallel   bool              `json:"parallel_tool_calls"`
	// What was asked for is not said again.
	Instructions *string  `json:"instructions"`
	Temperature  *float64 `json:"temperature"`
	TopP         *float64 `json:"top_p"`
}

type responsesReason struct {
	Reason string `json:"reason"`
}

type responsesFailure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// outItem is an item of an answer; the fields of its type are set.
type outItem struct {
	ID        string     `json:"id"`
	Type      string     `json:"type"`
	Status    string     `json:"status,omitempty"`
	Role      string     `json:"role,omitempty"`
	Content   *[]outPart `json:"content,omitempty"`
	CallID    string     `json:"call_id,omitempty"`
	Name      string     `json:"name,omitempty"`
	Arguments *string    `json:"arguments,omitempty"`
	Input     *string    `json:"input,omitempty"`
	Summary   *[]outPart `json:"summary,omitempty"`
	Sealed    string     `json:"encrypted_content,omitempty"`
}

type outPart struct {
	Type        string      `json:"type"`
	Text        string      `json:"text"`
	Annotations *[]struct{} `json:"annotations,omitempty"`
}

// textPart returns the part of a text.
func textPart(text string) outPart {
	return outPart{Type: "output_text", Text: text, Annotations: &[]struct{}{}}
}

// itemOf returns the item of a block at an index of the answer.
func (s *responsesStream) itemOf(i int, b model.Block) outItem {
	id := fmt.Sprintf("%s_%d", s.call, i)
	switch {
	case b.Kind == model.Thinking:
		summary := []outPart{}
		if b.Text != "" {
			summary = append(summary, outPart{Type: "summary_text", Text: b.Text})
		}
		return outItem{ID: "rs_" + id, Type: "reasoning", Summary: &summary, Sealed: sealThought(b.Thought)}
	case b.Kind == model.ToolCall && s.custom[b.Tool]:
		var in customInput
		_ = json.Unmarshal(b.Input, &in) // another form is an empty input, which the tool refuses
		return outItem{ID: "ctc_" + id, Type: "custom_tool_call", Status: "completed", CallID: b.CallID, Name: b.Tool, Input: &in.Input}
	case b.Kind == model.ToolCall:
		arguments := string(b.Input)
		if b.IsError {
			arguments = b.Text // half an input, as the model gave it
		}
		return outItem{ID: "fc_" + id, Type: "function_call", Status: "completed", CallID: b.CallID, Name: b.Tool, Arguments: &arguments}
	}
	return outItem{ID: "msg_" + id, Type: "message", Status: "completed", Role: "assistant", Content: &[]outPart{textPart(b.Text)}}
}

// ended returns the response object at the end of an answer.
func (o responsesOut) ended(r model.Response) responsesOut {
	o.Status = "completed"
	switch r.Stop {
	case model.StopLength:
		o.Status, o.Incomplete = "incomplete", &responsesReason{"max_output_tokens"}
	case model.StopRefusal:
		o.Status, o.Incomplete = "incomplete", &responsesReason{"content_filter"}
	}
	if r.Model != "" {
		o.Model = r.Model
	}
	if o.Output == nil {
		o.Output = []outItem{}
	}
	u := &responsesUsage{Input: r.Usage.Input, Output: r.Usage.Output, Total: r.Usage.Input + r.Usage.Output}
	u.InputDetails.Cached = r.Usage.CacheRead
	o.Usage = u
	return o
}

// responsesEvent is an event of the stream; the fields of its type are set.
type responsesEvent struct {
	Type      string        `json:"type"`
	Number    int           `json:"sequence_number"`
	Response  *responsesOut `json:"response,omitempty"`
	Index     *int          `json:"output_index,omitempty"`
	ItemID    string        `json:"item_id,omitempty"`
	Part      *int          `json:"content_index,omitempty"`
	Summary   *int          `json:"summary_index,omitempty"`
	Item      *outItem      `json:"item,omitempty"`
	PartValue *outPart      `json:"part,omitempty"`
	Delta     string        `json:"delta,omitempty"`
	Text      *string       `json:"text,omitempty"`
	Arguments *string       `json:"arguments,omitempty"`
	Input     *string       `json:"input,omitempty"`
	Name      string        `json:"name,omitempty"`
	Logprobs  *[]struct{}   `json:"logprobs,omitempty"`
}

// responsesStream writes a response as the API's event stream. Text is sent as it
// arrives and thinking once it is whole, until the first tool call; everything after it
// is sent whole at the end, because the provider's pieces of tool calls carry no ids.
type responsesStream struct {
	eventStream
	told
	called
	out    responsesOut
	custom map[string]bool
	number int
	text   []byte // of the open message
	open   bool
}

// head returns the response object so far, named by its call.
func (s *responsesStream) head() responsesOut {
	out := s.out
	out.ID, out.ToolChoice, out.Parallel = "resp_"+string(s.call), "auto", true
	return out
}

// send writes an event.
func (s *responsesStream) send(e responsesEvent) {
	e.Number = s.number
	s.number++
	s.event(e.Type, e)
}

// start writes the first events, once.
func (s *responsesStream) start() {
	if s.begun {
		return
	}
	began := s.head()
	began.Status, began.Output = "in_progress", []outItem{}
	s.send(responsesEvent{Type: "response.created", Response: &began})
	s.send(responsesEvent{Type: "response.in_progress", Response: &began})
}

// delta writes a piece of the answer.
func (s *responsesStream) delta(d model.Delta) {
	s.start()
	if !s.note(d) {
		return
	}
	if d.Thinking != nil {
		s.closeText()
		s.item(*d.Thinking)
		return
	}
	s.piece(d.Text)
}

// index returns the index of the next item, or of the open one.
func (s *responsesStream) index() *int {
	n := len(s.out.Output)
	return &n
}

// piece writes a piece of text, and first the start of its message.
func (s *responsesStream) piece(text string) {
	i, zero := s.index(), 0
	item := s.itemOf(*i, model.Block{Kind: model.Text})
	if !s.open {
		s.open = true
		item.Status, item.Content = "in_progress", &[]outPart{}
		s.send(responsesEvent{Type: "response.output_item.added", Index: i, Item: &item})
		part := textPart("")
		s.send(responsesEvent{Type: "response.content_part.added", Index: i, ItemID: item.ID, Part: &zero, PartValue: &part})
	}
	s.text = append(s.text, text...)
	s.send(responsesEvent{Type: "response.output_text.delta", Index: i, ItemID: item.ID, Part: &zero, Delta: text, Logprobs: &[]struct{}{}})
}

// closeText writes the end of the open message, if there is one.
func (s *responsesStream) closeText() {
	if !s.open {
		return
	}
	i, zero, text := s.index(), 0, string(s.text)
	item, part := s.itemOf(*i, model.Block{Kind: model.Text, Text: text}), textPart(text)
	s.send(responsesEvent{Type: "response.output_text.done", Index: i, ItemID: item.ID, Part: &zero, Text: &text, Logprobs: &[]struct{}{}})
	s.send(responsesEvent{Type: "response.content_part.done", Index: i, ItemID: item.ID, Part: &zero, PartValue: &part})
	s.done(item)
	s.open, s.text = false, nil
}

// done writes the end of an item.
func (s *responsesStream) done(item outItem) {
	s.send(responsesEvent{Type: "response.output_item.done", Index: s.index(), Item: &item})
	s.out.Output = append(s.out.Output, item)
}

// item writes an item whole.
func (s *responsesStream) item(b model.Block) {
	if b.Kind == model.Text {
		s.piece(b.Text)
		s.closeText()
		return
	}
	i, zero := s.index(), 0
	item := s.itemOf(*i, b)
	began, empty := item, ""
	switch {
	case item.Arguments != nil:
		began.Status, began.Arguments = "in_progress", &empty
	case item.Input != nil:
		began.Status, began.Input = "in_progress", &empty
	case item.Summary != nil:
		began.Summary = &[]outPart{}
	}
	s.send(responsesEvent{Type: "response.output_item.added", Index: i, Item: &began})
	switch {
	case item.Arguments != nil:
		s.send(responsesEvent{Type: "response.function_call_arguments.delta", Index: i, ItemID: item.ID, Delta: *item.Arguments})
		s.send(responsesEvent{Type: "response.function_call_arguments.done", Index: i, ItemID: item.ID, Name: item.Name, Arguments: item.Arguments})
	case item.Input != nil:
		s.send(responsesEvent{Type: "response.custom_tool_call_input.delta", Index: i, ItemID: item.ID, Delta: *item.Input})
		s.send(responsesEvent{Type: "response.custom_tool_call_input.done", Index: i, ItemID: item.ID, Input: item.Input})
	case b.Text != "":
		empty, part := outPart{Type: "summary_text"}, (*item.Summary)[0]
		s.send(responsesEvent{Type: "response.reasoning_summary_part.added", Index: i, ItemID: item.ID, Summary: &zero, PartValue: &empty})
		s.send(responsesEvent{Type: "response.reasoning_summary_text.delta", Index: i, ItemID: item.ID, Summary: &zero, Delta: b.Text})
		s.send(responsesEvent{Type: "response.reasoning_summary_text.done", Index: i, ItemID: item.ID, Summary: &zero, Text: &b.Text})
		s.send(responsesEvent{Type: "response.reasoning_summary_part.done", Index: i, ItemID: item.ID, Summary: &zero, PartValue: &part})
	}
	s.done(item)
}

// finish writes the rest of the answer and the end of the stream, or the error; as a
// status code if nothing was written.
func (s *responsesStream) finish(resp model.Response, err error) {
	if err != nil && !s.begun {
		writeCompletionsError(s.w, err)
		return
	}
	s.start()
	if err != nil {
		failed := s.head()
		failed.Status, failed.Error = "failed", &responsesFailure{openaiCode(err), errorText(err)}
		s.send(responsesEvent{Type: "response.failed", Response: &failed})
		return
	}
	rest := s.rest(resp.Content)
	if s.open && len(rest) > 0 && rest[0].Kind == model.Text { // the end of the open one
		s.piece(rest[0].Text)
		rest = rest[1:]
	}
	s.closeText()
	for _, b := range rest {
		s.item(b)
	}
	ended := s.head().ended(resp)
	s.send(responsesEvent{Type: "response." + ended.Status, Response: &ended})
}
