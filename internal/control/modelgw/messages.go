package modelgw

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// messagesRequest is a request of the Anthropic Messages API, sent by a program in the
// sandbox. Other sampling parameters, metadata and cache marks are accepted and ignored.
// Documents and server tools are refused, because ignoring them would change the
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
	Stream      bool     `json:"stream"`
	Temperature *float64 `json:"temperature"`
	Thinking    struct {
		Type   string `json:"type"`
		Budget int    `json:"budget_tokens"`
	} `json:"thinking"`
	OutputConfig struct {
		Effort string `json:"effort"`
	} `json:"output_config"`
	Thread json.RawMessage `json:"thread"`
}

// effort returns how long the model is to think.
func (in *messagesRequest) effort() string {
	switch in.Thinking.Type {
	case "disabled":
		return "none"
	case "enabled":
		return effortOfBudget(in.Thinking.Budget, in.MaxTokens)
	case "adaptive":
		return cmp.Or(effortOf(in.OutputConfig.Effort), "high")
	}
	return ""
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
	messagesPart
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   messagesParts   `json:"content,omitempty"` // tool_result
	IsError   bool            `json:"is_error,omitempty"`
	Thinking  string          `json:"thinking,omitempty"`  // thinking
	Signature string          `json:"signature,omitempty"` // thinking
	Data      string          `json:"data,omitempty"`      // redacted_thinking
}

// messagesParts is a text with images: a string or a list of parts in JSON. Parts contain
// no other parts, so that the nesting of a request is bounded.
type messagesParts []messagesPart

// messagesPart is a text or an image.
type messagesPart struct {
	Type     string          `json:"type"`
	Text     string          `json:"text,omitempty"`
	Source   *messagesSource `json:"source,omitempty"` // image
	ImageURL *struct {
		URL string `json:"url"`
	} `json:"image_url,omitempty"` // of chat completions
}

// messagesSource is where the data of an image is.
type messagesSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

// image returns the image of a part. Code invalid, with path: the part has another type,
// or its image is elsewhere.
func (p *messagesPart) image(path string) (model.Image, error) {
	switch {
	case p.Type == "image_url" && p.ImageURL != nil:
		return imageOf(p.ImageURL.URL, path+".image_url.url")
	case p.Type != "image":
		return model.Image{}, unsupported(path, p.Type)
	case p.Source == nil || p.Source.Type != "base64":
		return model.Image{}, choir.Invalid(path+".source.type", "must be base64, because this gateway fetches nothing")
	}
	return model.Image{MediaType: p.Source.MediaType, Data: p.Source.Data}, nil
}

// split returns the texts joined with newlines, and the images. Code invalid, with path:
// there is a part of another kind.
func (c messagesParts) split(path string) (string, []model.Image, error) {
	var text strings.Builder
	var images []model.Image
	for i, p := range c {
		if p.Type == "text" {
			appendAfter(&text, "\n", p.Text)
			continue
		}
		image, err := p.image(at(path, i))
		if err != nil {
			return "", nil, err
		}
		images = append(images, image)
	}
	return text.String(), images, nil
}

// appendAfter appends a text to out, after a separator unless out is empty.
func appendAfter(out *strings.Builder, separator, text string) {
	if out.Len() > 0 {
		out.WriteString(separator)
	}
	out.WriteString(text)
}

// UnmarshalJSON decodes a string into one text block, or a list of blocks.
func (c *messagesContent) UnmarshalJSON(raw []byte) error {
	if text, ok := decodeText(raw); ok {
		*c = messagesContent{{messagesPart: messagesPart{Type: "text", Text: text}}}
		return nil
	}
	return json.Unmarshal(raw, (*[]messagesBlock)(c))
}

// UnmarshalJSON decodes a string into one text, or a list of parts.
func (c *messagesParts) UnmarshalJSON(raw []byte) error {
	if text, ok := decodeText(raw); ok {
		*c = messagesParts{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(raw, (*[]messagesPart)(c))
}

// decodeText decodes a JSON string, or null as the empty text. It returns false for any
// other value, and for a list without reading it.
func decodeText(raw []byte) (text string, ok bool) {
	if len(raw) == 0 || raw[0] == '[' {
		return "", false
	}
	return text, json.Unmarshal(raw, &text) == nil
}

// text joins the text blocks with newlines. Code invalid, with path: there is a block of
// another kind.
func (c messagesContent) text(path string) (string, error) {
	var out strings.Builder
	for i, b := range c {
		if b.Type != "text" {
			return "", unsupported(at(path, i), b.Type)
		}
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(b.Text)
	}
	return out.String(), nil
}

// at returns the path of a list's element, for errors.
func at(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// unsupported returns the error of code invalid for a block or tool type.
func unsupported(path, kind string) error {
	return choir.Invalid(path+".type", "%q is not supported by this gateway, only text, images and tools are", kind)
}

// parseMessages converts the JSON of a Messages API request into a model.Request, and
// reports whether the answer is to be streamed. Code invalid, with the path of the
// field: it is malformed or uses an unsupported feature.
func parseMessages(body []byte) (req model.Request, stream bool, err error) {
	var in messagesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return req, false, choir.Invalid("$", "the request is not JSON of the Messages API: %v", err)
	}
	if len(in.Thread) > 0 && string(in.Thread) != "null" {
		return req, in.Stream, choir.Invalid(threadPath, "is not supported: this gateway keeps no messages, send the whole conversation")
	}
	req = model.Request{Model: in.Model, MaxTokens: in.MaxTokens, Temperature: in.Temperature, Effort: in.effort()}
	prompt, err := in.System.text("system")
	if err != nil {
		return req, in.Stream, err
	}
	var system strings.Builder
	system.WriteString(prompt)
	for i, m := range in.Messages {
		path := at("messages", i) + ".content"
		if m.Role == "system" {
			if err := m.addSystem(&req, &system, path); err != nil {
				return req, in.Stream, err
			}
			continue
		}
		out := model.Message{Role: model.Role(m.Role)}
		if out.Content, err = m.Content.blocks(path); err != nil {
			return req, in.Stream, err
		}
		req.Messages = append(req.Messages, out)
	}
	req.System = system.String()
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

// addSystem adds a system message within the conversation, where not every provider takes
// one: as a marked text of the user, and before the first message to the system prompt.
func (m *messagesMessage) addSystem(req *model.Request, system *strings.Builder, path string) error {
	text, err := m.Content.text(path)
	if err != nil {
		return err
	}
	if len(req.Messages) > 0 {
		appendBlock(req, model.User, model.Block{Kind: model.Text, Text: "<system>\n" + text + "\n</system>"})
		return nil
	}
	appendAfter(system, "\n\n", text)
	return nil
}

// blocks converts the content of a message. Code invalid, with path: a block has an
// unsupported type.
func (c messagesContent) blocks(path string) ([]model.Block, error) {
	var out []model.Block
	for i, b := range c {
		switch b.Type {
		case "text":
			out = append(out, model.Block{Kind: model.Text, Text: b.Text})
		case "tool_use":
			out = append(out, model.Block{Kind: model.ToolCall, CallID: b.ID, Tool: b.Name, Input: b.Input})
		case "tool_result":
			text, images, err := b.Content.split(at(path, i) + ".content")
			if err != nil {
				return nil, err
			}
			out = append(out, model.Block{Kind: model.ToolResult, CallID: b.ToolUseID, Text: text, Images: images, IsError: b.IsError})
		case "thinking", "redacted_thinking":
			if t := unsealThought(cmp.Or(b.Signature, b.Data)); t != nil { // else no service would take it
				out = append(out, model.Block{Kind: model.Thinking, Text: b.Thinking, Thought: t})
			}
		default:
			image, err := b.image(at(path, i))
			if err != nil {
				return nil, err
			}
			out = append(out, picture(image))
		}
	}
	return out, nil
}

// serveCountTokens answers the API's count of a request's tokens with an estimate, as
// budgets count it. No provider is asked.
func (g *Gateway) serveCountTokens(w http.ResponseWriter, r *http.Request) {
	a, err := g.decodeProgramCall(w, r, func(body []byte) (model.Request, error) {
		req, _, err := parseMessages(body)
		return req, err
	})
	if err != nil {
		writeMessagesError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, struct {
		Input int64 `json:"input_tokens"`
	}{tokensOf(&a.req, len(a.canonical))})
}

// serveMessages answers the Anthropic Messages API for a program in the sandbox.
func (g *Gateway) serveMessages(w http.ResponseWriter, r *http.Request) {
	stream := false
	a, err := g.decodeProgramCall(w, r, func(body []byte) (req model.Request, err error) {
		req, stream, err = parseMessages(body)
		return checked(req, err)
	})
	if err != nil {
		writeMessagesError(w, err)
		return
	}
	s := &messagesStream{eventStream: eventStream{w: w}, model: a.req.Model}
	g.answerProgram(w, r, a, stream, s, func(resp model.Response, err error) {
		if err != nil {
			writeMessagesError(w, err)
			return
		}
		writeJSON(w, http.StatusOK, messagesAnswer(s.call, resp))
	})
}

type messagesError struct {
	Type  string `json:"type"`
	Error struct {
		Type    string           `json:"type"`
		Message string           `json:"message"`
		Details *messagesDetails `json:"details,omitempty"`
	} `json:"error"`
}

// messagesDetails are what clients know an error by besides its type.
type messagesDetails struct {
	Code        string   `json:"error_code"`
	Unsupported []string `json:"unsupported"`
}

// threadPath is the field of a request that continues a conversation which the service
// keeps. Clients that are refused it send the whole conversation instead.
const threadPath = "thread"

// messagesErrorOf converts an error into the API's error body.
func messagesErrorOf(err error) messagesError {
	var e messagesError
	e.Type, e.Error.Type, e.Error.Message = "error", messagesErrorTypes[programStatus(err)], errorText(err)
	if e.Error.Type == "" {
		e.Error.Type = "api_error"
	}
	if model.FailureOf(err).Path == threadPath {
		e.Error.Details = &messagesDetails{Code: "thread_unsupported_request", Unsupported: []string{threadPath}}
	}
	return e
}

// writeMessagesError answers with an error in the API's form.
func writeMessagesError(w http.ResponseWriter, err error) {
	writeProgramError(w, programStatus(err), err, messagesErrorOf(err))
}
