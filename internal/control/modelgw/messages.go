package modelgw

import (
	"encoding/json"
	"net/http"
	"strconv"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// messagesRequest is a request of the Anthropic Messages API, sent by a program in the
// sandbox. Sampling parameters, metadata and cache marks are accepted and ignored.
// Images, documents and server tools are refused, because ignoring them would change the
// meaning.
type messagesRequest struct {
	Model      string            `json:"model"`
	MaxTokens  int               `json:"max_tokens"`
	System     messagesContent   `json:"system"`
	Messages   []messagesMessage `json:"messages"`
	Tools      []messagesTool    `json:"tools"`
	ToolChoice *struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tool_choice"`
	Stream bool `json:"stream"`
}

type messagesMessage struct {
	Role    string          `json:"role"`
	Content messagesContent `json:"content"`
}

type messagesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// messagesContent is the content of a message: a string or a list of blocks in JSON.
type messagesContent []messagesBlock

type messagesBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   messagesContent `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
}

// UnmarshalJSON decodes a string into one text block, or a list of blocks.
func (c *messagesContent) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*c = messagesContent{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(raw, (*[]messagesBlock)(c))
}

// text joins the text blocks with newlines. Code invalid, with path: there is a block of
// another kind.
func (c messagesContent) text(path string) (string, error) {
	out := ""
	for i, b := range c {
		if b.Type != "text" {
			return "", unsupported(at(path, i), b.Type)
		}
		if i > 0 {
			out += "\n"
		}
		out += b.Text
	}
	return out, nil
}

// at returns the path of a list's element, for errors.
func at(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// unsupported returns the error of code invalid for a block or tool type.
func unsupported(path, kind string) error {
	return choir.Invalid(path+".type", "%q is not supported by this gateway, only text and tools are", kind)
}

// parseMessages converts the JSON of a Messages API request into a model.Request, and
// reports whether the answer is to be streamed. Code invalid, with the path of the
// field: it is malformed or uses an unsupported feature.
func parseMessages(body []byte) (req model.Request, stream bool, err error) {
	var in messagesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return req, false, choir.Invalid("$", "the request is not JSON of the Messages API: %v", err)
	}
	req = model.Request{Model: in.Model, MaxTokens: in.MaxTokens}
	if req.System, err = in.System.text("system"); err != nil {
		return req, in.Stream, err
	}
	for i, m := range in.Messages {
		out := model.Message{Role: model.Role(m.Role)}
		if out.Content, err = m.Content.blocks(at("messages", i) + ".content"); err != nil {
			return req, in.Stream, err
		}
		req.Messages = append(req.Messages, out)
	}
	for i, t := range in.Tools {
		if t.Type != "" && t.Type != "custom" {
			return req, in.Stream, unsupported(at("tools", i), t.Type)
		}
		req.Tools = append(req.Tools, model.ToolDef{Name: t.Name, Description: t.Description, Schema: t.InputSchema})
	}
	if in.ToolChoice != nil {
		switch in.ToolChoice.Type {
		case "tool":
			req.ToolChoice = in.ToolChoice.Name
		case "none":
			req.Tools = nil
		default:
			req.ToolChoice = in.ToolChoice.Type
		}
	}
	return req, in.Stream, nil
}

// blocks converts the content of a message. Thinking blocks are left out. Code invalid,
// with path: a block has an unsupported type.
func (c messagesContent) blocks(path string) ([]model.Block, error) {
	var out []model.Block
	for i, b := range c {
		switch b.Type {
		case "text":
			out = append(out, model.Block{Kind: model.Text, Text: b.Text})
		case "tool_use":
			out = append(out, model.Block{Kind: model.ToolCall, CallID: b.ID, Tool: b.Name, Input: b.Input})
		case "tool_result":
			text, err := b.Content.text(at(path, i) + ".content")
			if err != nil {
				return nil, err
			}
			out = append(out, model.Block{Kind: model.ToolResult, CallID: b.ToolUseID, Text: text, IsError: b.IsError})
		case "thinking", "redacted_thinking":
		default:
			return nil, unsupported(at(path, i), b.Type)
		}
	}
	return out, nil
}

// serveMessages answers the Anthropic Messages API for a program in the sandbox.
func (g *Gateway) serveMessages(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(w, r)
	if err != nil {
		writeMessagesError(w, err)
		return
	}
	req, stream, err := parseMessages(body)
	if err != nil {
		writeMessagesError(w, err)
		return
	}
	s := messagesStream{eventStream: eventStream{w: w}, model: req.Model}
	on := s.delta
	if !stream {
		on = func(model.Delta) {}
	}
	resp, err := g.callAsTool(r.Context(), r, req, on)
	g.abortIfClosing()
	switch {
	case stream:
		s.finish(resp, err)
	case err != nil:
		writeMessagesError(w, err)
	default:
		writeJSON(w, http.StatusOK, messagesAnswer(resp))
	}
}

type messagesError struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// messagesErrorOf converts an error into the API's error body.
func messagesErrorOf(err error) messagesError {
	var e messagesError
	e.Type, e.Error.Type, e.Error.Message = "error", "api_error", errorText(err)
	switch choir.CodeOf(err) {
	case choir.CodeInvalid:
		e.Error.Type = "invalid_request_error"
	case choir.CodeTooLarge:
		e.Error.Type = "request_too_large"
	case choir.CodeOverloaded, choir.CodeBusy:
		e.Error.Type = "overloaded_error"
	case choir.CodeBudget, choir.CodeForbidden, choir.CodeRefused:
		e.Error.Type = "permission_error"
	}
	return e
}

// writeMessagesError answers with an error in the API's form.
func writeMessagesError(w http.ResponseWriter, err error) {
	status := choir.CodeOf(err).HTTPStatus()
	if status == http.StatusUnprocessableEntity {
		status = http.StatusBadRequest // what the API itself answers
	}
	writeJSON(w, status, messagesErrorOf(err))
}
