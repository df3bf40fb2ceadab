package modelgw

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// completionsRequest is a request of OpenAI's chat completions API, sent by a program in
// the sandbox. Other sampling parameters are accepted and ignored; unsupported content
// is refused.
type completionsRequest struct {
	Model               string               `json:"model"`
	Messages            []completionsMessage `json:"messages"`
	Tools               []completionsTool    `json:"tools"`
	ToolChoice          json.RawMessage      `json:"tool_choice"`
	MaxTokens           int                  `json:"max_tokens"`
	MaxCompletionTokens int                  `json:"max_completion_tokens"`
	N                   int                  `json:"n"`
	Stream              bool                 `json:"stream"`
	Temperature         *float64             `json:"temperature"`
	Effort              string               `json:"reasoning_effort"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type completionsMessage struct {
	Role       string            `json:"role"`
	Content    messagesParts     `json:"content"`
	ToolCalls  []completionsCall `json:"tool_calls"`
	ToolCallID string            `json:"tool_call_id"`
	Reasoning  string            `json:"reasoning_content"`
}

type completionsTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type completionsCall struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// defaultMaxTokens is the answer's token limit for requests that set none, which the API
// allows.
const defaultMaxTokens = 8192

// parseCompletions converts the JSON of a chat completions request into a model.Request,
// and returns the decoded request too. Code invalid, with the path of the field: it is
// malformed or uses an unsupported feature.
func parseCompletions(body []byte) (req model.Request, in completionsRequest, err error) {
	if err := json.Unmarshal(body, &in); err != nil {
		return req, in, choir.Invalid("$", "the request is not JSON of chat completions: %v", err)
	}
	if in.N > 1 {
		return req, in, choir.Invalid("n", "must be 1, not %d", in.N)
	}
	req = model.Request{Model: in.Model, MaxTokens: in.MaxCompletionTokens, Temperature: in.Temperature, Effort: effortOf(in.Effort)}
	if req.MaxTokens == 0 {
		req.MaxTokens = in.MaxTokens
	}
	if req.MaxTokens == 0 {
		req.MaxTokens = defaultMaxTokens
	}
	var system strings.Builder
	for i, m := range in.Messages {
		if err := m.add(&req, &system, at("messages", i)); err != nil {
			return req, in, err
		}
	}
	req.System = system.String()
	for i, t := range in.Tools {
		if t.Type != "function" {
			return req, in, unsupported(at("tools", i), t.Type)
		}
		schema := t.Function.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		req.Tools = append(req.Tools, model.ToolDef{Name: t.Function.Name, Description: t.Function.Description, Schema: schema})
	}
	return req, in, in.choose(&req)
}

// add converts the message and appends it to req: system text to system, consecutive tool
// results into one user message. path names the message in errors of code invalid.
func (m *completionsMessage) add(req *model.Request, system *strings.Builder, path string) error {
	text, images, err := m.Content.split(path + ".content")
	if err != nil {
		return err
	}
	switch m.Role {
	case "system", "developer":
		appendAfter(system, "\n\n", text)
	case "user":
		said := model.Message{Role: model.User}
		if text != "" || len(images) == 0 {
			said.Content = append(said.Content, model.Block{Kind: model.Text, Text: text})
		}
		for _, i := range images {
			said.Content = append(said.Content, picture(i))
		}
		req.Messages = append(req.Messages, said)
	case "assistant":
		req.Messages = append(req.Messages, m.assistant(text))
	case "tool":
		result := model.Block{Kind: model.ToolResult, CallID: m.ToolCallID, Text: text, Images: images}
		if n := len(req.Messages); n > 0 && isResults(req.Messages[n-1]) {
			req.Messages[n-1].Content = append(req.Messages[n-1].Content, result)
			return nil
		}
		req.Messages = append(req.Messages, model.Message{Role: model.User, Content: []model.Block{result}})
	default:
		return choir.Invalid(path+".role", "must be system, developer, user, assistant or tool, not %q", m.Role)
	}
	return nil
}

// isResults reports whether a message has tool results.
func isResults(m model.Message) bool {
	return m.Role == model.User && slices.ContainsFunc(m.Content, func(b model.Block) bool { return b.Kind == model.ToolResult })
}

// assistant converts an assistant message with its tool calls. A call with invalid JSON
// gets the input null, which Request.Check refuses.
func (m *completionsMessage) assistant(text string) model.Message {
	out := model.Message{Role: model.Assistant}
	if m.Reasoning != "" {
		out.Content = append(out.Content, model.Block{Kind: model.Thinking, Text: m.Reasoning, Thought: &model.Thought{Of: "chat"}})
	}
	if text != "" || len(m.ToolCalls) == 0 {
		out.Content = append(out.Content, model.Block{Kind: model.Text, Text: text})
	}
	for _, c := range m.ToolCalls {
		input := json.RawMessage(c.Function.Arguments)
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		if !json.Valid(input) {
			input = json.RawMessage("null") // refused by Check, with its path
		}
		out.Content = append(out.Content, model.Block{Kind: model.ToolCall, CallID: c.ID, Tool: c.Function.Name, Input: input})
	}
	return out
}

// choose converts tool_choice, a word or a function's name, into req.ToolChoice. "none"
// removes the tools.
func (in *completionsRequest) choose(req *model.Request) error {
	if len(in.ToolChoice) == 0 || string(in.ToolChoice) == "null" {
		return nil
	}
	var word string
	if json.Unmarshal(in.ToolChoice, &word) == nil {
		switch word {
		case "auto":
		case "required":
			req.ToolChoice = "any"
		case "none":
			req.Tools = nil
		default:
			return choir.Invalid("tool_choice", "must be auto, none, required or a function, not %q", word)
		}
		return nil
	}
	var f completionsTool
	if err := json.Unmarshal(in.ToolChoice, &f); err != nil || f.Function.Name == "" {
		return choir.Invalid("tool_choice", "must be auto, none, required or a function")
	}
	req.ToolChoice = f.Function.Name
	return nil
}

// serveCompletions answers OpenAI's chat completions for a program in the sandbox.
func (g *Gateway) serveCompletions(w http.ResponseWriter, r *http.Request) {
	var in completionsRequest
	a, err := g.decodeProgramCall(w, r, func(body []byte) (req model.Request, err error) {
		req, in, err = parseCompletions(body)
		return checked(req, err)
	})
	if err != nil {
		writeCompletionsError(w, err)
		return
	}
	s := &completionsStream{eventStream: eventStream{w: w}, model: a.req.Model, usage: in.StreamOptions.IncludeUsage, created: g.cfg.Now().Std().Unix()}
	g.answerProgram(w, r, a, in.Stream, s, func(resp model.Response, err error) {
		if err != nil {
			writeCompletionsError(w, err)
			return
		}
		writeJSON(w, http.StatusOK, completionsAnswer(s.call, resp, s.created))
	})
}

type completionsError struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	} `json:"error"`
}

// completionsErrorOf converts an error into the API's error body.
func completionsErrorOf(err error) completionsError {
	var e completionsError
	f := model.FailureOf(err)
	e.Error.Message, e.Error.Type, e.Error.Code = errorText(err), "server_error", openaiCode(err)
	switch openaiStatus(err) {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge:
		e.Error.Type = "invalid_request_error"
	case http.StatusUnauthorized:
		e.Error.Type = "authentication_error"
	case http.StatusForbidden:
		e.Error.Type = "permission_error"
	case http.StatusTooManyRequests:
		e.Error.Type = e.Error.Code
	}
	if f.Path != "" {
		e.Error.Param = &f.Path
	}
	return e
}

// writeCompletionsError answers with an error in the form of both of OpenAI's APIs.
func writeCompletionsError(w http.ResponseWriter, err error) {
	writeProgramError(w, openaiStatus(err), err, completionsErrorOf(err))
}
