package modelgw

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// responsesRequest is a request of OpenAI's Responses API, sent by a program in the
// sandbox. The gateway stores no responses, so that one cannot continue another. Tools
// that OpenAI runs itself are left out: the model is not told of them.
type responsesRequest struct {
	Model        string          `json:"model"`
	Instructions string          `json:"instructions"`
	Input        responsesInput  `json:"input"`
	Tools        []responsesTool `json:"tools"`
	ToolChoice   json.RawMessage `json:"tool_choice"`
	MaxTokens    int             `json:"max_output_tokens"`
	Temperature  *float64        `json:"temperature"`
	Reasoning    struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	Previous string `json:"previous_response_id"`
	Stream   bool   `json:"stream"`
}

type responsesTool struct {
	namespaceTool
	Tools []namespaceTool `json:"tools"` // of a namespace
}

// namespaceTool is a tool that contains no other tools.
type namespaceTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// responsesInput is a text of the user or a list of items in JSON.
type responsesInput []responsesItem

// responsesItem is an item of a conversation.
type responsesItem struct {
	Type      string           `json:"type"`
	Role      string           `json:"role"`
	Content   responsesContent `json:"content"`
	CallID    string           `json:"call_id"`
	Name      string           `json:"name"`
	Arguments string           `json:"arguments"`
	Input     string           `json:"input"` // of a custom tool
	Output    responsesContent `json:"output"`
	Summary   []responsesPart  `json:"summary"`
	Sealed    string           `json:"encrypted_content"`
}

// responsesContent is a text or a list of parts in JSON.
type responsesContent []responsesPart

type responsesPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL string `json:"image_url"`
	Refusal  string `json:"refusal"`
}

// UnmarshalJSON decodes a text into one message of the user, or a list of items.
func (in *responsesInput) UnmarshalJSON(raw []byte) error {
	if text, ok := decodeText(raw); ok {
		*in = responsesInput{{Role: "user", Content: responsesContent{{Type: "input_text", Text: text}}}}
		return nil
	}
	return json.Unmarshal(raw, (*[]responsesItem)(in))
}

// UnmarshalJSON decodes a text into one part, or a list of parts.
func (c *responsesContent) UnmarshalJSON(raw []byte) error {
	if text, ok := decodeText(raw); ok {
		*c = responsesContent{{Type: "input_text", Text: text}}
		return nil
	}
	return json.Unmarshal(raw, (*[]responsesPart)(c))
}

// split returns the texts joined with newlines, and the images. Code invalid, with path:
// there is a part of another kind.
func (c responsesContent) split(path string) (string, []model.Image, error) {
	var text strings.Builder
	var images []model.Image
	for i, p := range c {
		switch p.Type {
		case "input_text", "output_text", "text", "refusal":
			appendAfter(&text, "\n", p.Text+p.Refusal)
		case "input_image":
			image, err := imageOf(p.ImageURL, at(path, i)+".image_url")
			if err != nil {
				return "", nil, err
			}
			images = append(images, image)
		default:
			return "", nil, unsupported(at(path, i), p.Type)
		}
	}
	return text.String(), images, nil
}

// parseResponses converts the JSON of a Responses request into a model.Request. custom
// are the tools whose input is a text. Code invalid, with the path of the field: it is
// malformed or uses an unsupported feature.
func parseResponses(body []byte) (req model.Request, in responsesRequest, custom map[string]bool, err error) {
	if err := json.Unmarshal(body, &in); err != nil {
		return req, in, nil, choir.Invalid("$", "the request is not JSON of the Responses API: %v", err)
	}
	if in.Previous != "" {
		return req, in, nil, choir.Invalid("previous_response_id", "is not supported: this gateway stores no responses, send the whole conversation")
	}
	req = model.Request{Model: in.Model, MaxTokens: in.MaxTokens, Temperature: in.Temperature, Effort: effortOf(in.Reasoning.Effort)}
	if req.MaxTokens == 0 {
		req.MaxTokens = defaultMaxTokens
	}
	custom = map[string]bool{}
	for _, t := range in.Tools {
		t.add(&req, custom)
		if t.Type == "namespace" {
			for _, inner := range t.Tools {
				inner.add(&req, custom)
			}
		}
	}
	var system strings.Builder
	system.WriteString(in.Instructions)
	for i := range in.Input {
		if err := in.Input[i].add(&req, &system, at("input", i)); err != nil {
			return req, in, custom, err
		}
	}
	req.System = system.String()
	return req, in, custom, in.choose(&req)
}

// add adds the tool to req if the program runs it, and to custom if its input is a text.
func (t namespaceTool) add(req *model.Request, custom map[string]bool) {
	switch t.Type {
	case "function":
		if len(t.Parameters) == 0 {
			t.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		req.Tools = append(req.Tools, model.ToolDef{Name: t.Name, Description: t.Description, Schema: t.Parameters})
	case "custom":
		custom[t.Name] = true
		req.Tools = append(req.Tools, model.ToolDef{Name: t.Name, Description: t.Description, Schema: json.RawMessage(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`)})
	}
}

// customInput is the input of a custom tool as the model gives it.
type customInput struct {
	Input string `json:"input"`
}

// add appends an item to the conversation. Code invalid, with path: it has an
// unsupported type.
func (i *responsesItem) add(req *model.Request, system *strings.Builder, path string) error {
	switch i.Type {
	case "message", "":
		return i.addMessage(req, system, path+".content")
	case "reasoning":
		if t := unsealThought(i.Sealed); t != nil { // else no service would take it
			summary := make([]string, len(i.Summary))
			for n, s := range i.Summary {
				summary[n] = s.Text
			}
			appendBlock(req, model.Assistant, model.Block{Kind: model.Thinking, Text: strings.Join(summary, "\n\n"), Thought: t})
		}
	case "function_call", "custom_tool_call":
		input := json.RawMessage(i.Arguments)
		if i.Type == "custom_tool_call" {
			raw, err := json.Marshal(customInput{i.Input})
			if err != nil {
				return choir.Invalid(path+".input", "%v", err)
			}
			input = raw
		}
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		if !json.Valid(input) {
			input = json.RawMessage("null") // refused by Check, with its path
		}
		appendBlock(req, model.Assistant, model.Block{Kind: model.ToolCall, CallID: i.CallID, Tool: i.Name, Input: input})
	case "function_call_output", "custom_tool_call_output":
		text, images, err := i.Output.split(path + ".output")
		if err != nil {
			return err
		}
		appendBlock(req, model.User, model.Block{Kind: model.ToolResult, CallID: i.CallID, Text: text, Images: images})
	default:
		return unsupported(path, i.Type)
	}
	return nil
}

// addMessage appends a message: text of the system and the developer to system.
func (i *responsesItem) addMessage(req *model.Request, system *strings.Builder, path string) error {
	text, images, err := i.Content.split(path)
	if err != nil {
		return err
	}
	switch i.Role {
	case "system", "developer":
		appendAfter(system, "\n\n", text)
		return nil
	case "user", "assistant":
	default:
		return choir.Invalid(path, "is of the role %q, not of system, developer, user or assistant", i.Role)
	}
	if text != "" || len(images) == 0 {
		appendBlock(req, model.Role(i.Role), model.Block{Kind: model.Text, Text: text})
	}
	for _, m := range images {
		appendBlock(req, model.Role(i.Role), picture(m))
	}
	return nil
}

// appendBlock appends a block to the last message if that has the role, else to a new
// one.
func appendBlock(req *model.Request, role model.Role, b model.Block) {
	if n := len(req.Messages); n > 0 && req.Messages[n-1].Role == role {
		req.Messages[n-1].Content = append(req.Messages[n-1].Content, b)
		return
	}
	req.Messages = append(req.Messages, model.Message{Role: role, Content: []model.Block{b}})
}

// choose converts tool_choice, a word or a tool's name, into req.ToolChoice. "none"
// removes the tools.
func (in *responsesRequest) choose(req *model.Request) error {
	if len(in.ToolChoice) == 0 || string(in.ToolChoice) == "null" {
		return nil
	}
	var tool responsesTool
	switch word := string(in.ToolChoice); {
	case word == `"auto"`:
	case word == `"required"` && len(req.Tools) > 0:
		req.ToolChoice = "any"
	case word == `"none"`:
		req.Tools = nil
	case json.Unmarshal(in.ToolChoice, &tool) == nil && tool.Name != "":
		req.ToolChoice = tool.Name
	default:
		return choir.Invalid("tool_choice", "must be auto, none, required or a function of tools")
	}
	return nil
}

// serveResponses answers OpenAI's Responses API for a program in the sandbox.
func (g *Gateway) serveResponses(w http.ResponseWriter, r *http.Request) {
	var in responsesRequest
	var custom map[string]bool
	a, err := g.decodeProgramCall(w, r, func(body []byte) (req model.Request, err error) {
		req, in, custom, err = parseResponses(body)
		return checked(req, err)
	})
	if err != nil {
		writeCompletionsError(w, err)
		return
	}
	s := &responsesStream{eventStream: eventStream{w: w}, out: responsesOut{Object: "response", CreatedAt: g.cfg.Now().Std().Unix(), Model: a.req.Model}, custom: custom}
	g.answerProgram(w, r, a, in.Stream, s, func(resp model.Response, err error) {
		if err != nil {
			writeCompletionsError(w, err)
			return
		}
		out := s.head()
		for i, b := range resp.Content {
			out.Output = append(out.Output, s.itemOf(i, b))
		}
		writeJSON(w, http.StatusOK, out.ended(resp))
	})
}

// listed is a model as both APIs list it, each with fields of its own.
type listed struct {
	ID          string `json:"id"`
	Object      string `json:"object,omitempty"`
	Created     int64  `json:"created"`
	OwnedBy     string `json:"owned_by,omitempty"`
	Type        string `json:"type,omitempty"`
	DisplayName string `json:"display_name,omitempty"`
	CreatedAt   string `json:"created_at,omitempty"`
}

// modelList is a list of models, with the fields of both APIs.
type modelList struct {
	Object  string   `json:"object,omitempty"`
	Data    []listed `json:"data"`
	HasMore bool     `json:"has_more"`
	FirstID *string  `json:"first_id"`
	LastID  *string  `json:"last_id"`
}

// listModels returns the model aliases in force, sorted.
func (g *Gateway) listModels() modelList {
	list := modelList{Object: "list", Data: []listed{}}
	for alias, route := range g.cfg.Routing().Routes {
		list.Data = append(list.Data, listed{
			ID: alias, Object: "model", OwnedBy: route.Provider.Name(),
			Type: "model", DisplayName: route.Model, CreatedAt: "1970-01-01T00:00:00Z",
		})
	}
	slices.SortFunc(list.Data, func(a, b listed) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	if n := len(list.Data); n > 0 {
		list.FirstID, list.LastID = &list.Data[0].ID, &list.Data[n-1].ID
	}
	return list
}

// serveModels lists the model aliases in force.
func (g *Gateway) serveModels(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, g.listModels())
}

// serveModel answers what is known of one model. Programs may ask for any name, as in a
// call: what is no alias stands for the one of tools.
func (g *Gateway) serveModel(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("model")
	list := g.listModels().Data
	i := slices.IndexFunc(list, func(l listed) bool { return l.ID == name })
	if i < 0 {
		i = slices.IndexFunc(list, func(l listed) bool { return l.ID == AliasTool || l.ID == AliasAssociate })
	}
	if i < 0 {
		writePathError(w, r, choir.E("modelgw.serve", choir.CodeNotFound, "no model is connected under the name %q", name))
		return
	}
	found := list[i]
	found.ID = name
	writeJSON(w, http.StatusOK, found)
}
