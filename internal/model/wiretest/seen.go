package wiretest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// wireRequest is the part of a Messages API request that scripts examine. It is defined
// separately from the code under test.
type wireRequest struct {
	Model    string        `json:"model"`
	System   wireContent   `json:"system"`
	Stream   bool          `json:"stream"`
	Messages []wireMessage `json:"messages"`
	Tools    []struct {
		Name string `json:"name"`
	} `json:"tools"`
}

type wireMessage struct {
	Role    string      `json:"role"`
	Content wireContent `json:"content"`
}

// wireContent is a string or a list of blocks in JSON.
type wireContent []wireBlock

type wireBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   wireContent     `json:"content"`
	IsError   bool            `json:"is_error"`
}

// UnmarshalJSON decodes a string into one text block, or a list of blocks.
func (c *wireContent) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*c = wireContent{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(raw, (*[]wireBlock)(c))
}

// text joins the text of all blocks, of tool inputs and of tool results.
func (c wireContent) text() string {
	var parts []string
	for _, b := range c {
		switch b.Type {
		case "tool_use":
			parts = append(parts, string(b.Input))
		case "tool_result":
			parts = append(parts, b.Content.text())
		default:
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// parseSeen parses a Messages API request for the conditions of rules.
func parseSeen(body []byte) (*Seen, error) {
	var w wireRequest
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, fmt.Errorf("the request is not JSON of the Messages API: %w", err)
	}
	s := &Seen{Model: w.Model, System: w.System.text(), Stream: w.Stream}
	for _, t := range w.Tools {
		s.Tools = append(s.Tools, t.Name)
	}
	tools := map[string]string{}
	for _, m := range w.Messages {
		seen := SeenMessage{Role: m.Role, Text: m.Content.text()}
		for _, b := range m.Content {
			switch b.Type {
			case "tool_use":
				tools[b.ID] = b.Name
			case "tool_result":
				seen.Results = append(seen.Results, SeenResult{Tool: tools[b.ToolUseID], Text: b.Content.text(), IsError: b.IsError})
			}
		}
		s.Messages = append(s.Messages, seen)
	}
	return s, nil
}
