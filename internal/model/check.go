package model

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"choiros/internal/choir"
)

// Limits on one request.
const (
	MaxTokensLimit = 1 << 20
	MaxMessages    = 4096
	MaxTools       = 256
)

// Check validates a request: it begins with a user message, each assistant message's
// tool calls are all answered by the next user message, and sizes are within the limits.
// The error has code invalid and the path of the field.
func (r *Request) Check() error {
	switch {
	case r.Model == "" || len(r.Model) > 200:
		return choir.Invalid("model", "must have 1 to 200 characters")
	case len(r.Messages) == 0 || len(r.Messages) > MaxMessages:
		return choir.Invalid("messages", "must have 1 to %d items, not %d", MaxMessages, len(r.Messages))
	case r.MaxTokens < 1 || r.MaxTokens > MaxTokensLimit:
		return choir.Invalid("max_tokens", "must be 1 to %d, not %d", MaxTokensLimit, r.MaxTokens)
	case r.Effort != "" && !slices.Contains(Efforts, r.Effort):
		return choir.Invalid("effort", "must be one of %s, not %q", strings.Join(Efforts, ", "), r.Effort)
	case r.Temperature != nil && !(*r.Temperature >= 0 && *r.Temperature <= 2):
		return choir.Invalid("temperature", "must be 0 to 2, not %g", *r.Temperature)
	case r.Messages[0].Role != User:
		return choir.Invalid("messages[0].role", "must be user: the first message is the user's")
	}
	if err := r.checkTools(); err != nil {
		return err
	}
	var open map[string]bool
	for i := range r.Messages {
		var err error
		if open, err = r.Messages[i].check(open); err != nil {
			return choir.Under("messages["+strconv.Itoa(i)+"]", err)
		}
	}
	if len(open) > 0 {
		return choir.Invalid("messages", "the last assistant message has tool calls without results")
	}
	return nil
}

// checkTools validates the tools and the tool choice.
func (r *Request) checkTools() error {
	if len(r.Tools) > MaxTools {
		return choir.Invalid("tools", "must have at most %d items, not %d", MaxTools, len(r.Tools))
	}
	known := map[string]bool{"": true, "auto": true, "any": true}
	for i, t := range r.Tools {
		at := "tools[" + strconv.Itoa(i) + "]"
		if t.Name == "" || len(t.Name) > 128 || known[t.Name] {
			return choir.Invalid(at+".name", "must be a new name of 1 to 128 characters, not %q", t.Name)
		}
		if !isObject(t.Schema) {
			return choir.Invalid(at+".schema", "must be an object: the JSON Schema of the tool's input")
		}
		known[t.Name] = true
	}
	if !known[r.ToolChoice] {
		return choir.Invalid("tool_choice", "must be auto, any or the name of a tool, not %q", r.ToolChoice)
	}
	if r.ToolChoice == "any" && len(r.Tools) == 0 {
		return choir.Invalid("tool_choice", "is any, but there are no tools")
	}
	return nil
}

// check validates a message that follows one with the open tool calls, and returns the
// tool calls that it leaves open itself.
func (m *Message) check(open map[string]bool) (map[string]bool, error) {
	if m.Role != User && m.Role != Assistant {
		return nil, choir.Invalid("role", "must be user or assistant, not %q", m.Role)
	}
	if len(m.Content) == 0 {
		return nil, choir.Invalid("content", "must not be empty")
	}
	if m.Role == Assistant && len(open) > 0 {
		return nil, choir.Invalid("role", "must be user: tool calls before it have no results")
	}
	calls := map[string]bool{}
	for i := range m.Content {
		at := "content[" + strconv.Itoa(i) + "]"
		if err := m.Content[i].check(m.Role, open, calls); err != nil {
			return nil, choir.Under(at, err)
		}
	}
	if m.Role == User && len(open) > 0 {
		return nil, choir.Invalid("content", "does not answer every tool call of the message before it")
	}
	return calls, nil
}

// check validates a block in a message of role. It removes an answered call from open,
// and adds a tool call to calls.
func (b *Block) check(role Role, open, calls map[string]bool) error {
	switch {
	case b.Kind == Text:
		return nil
	case b.Kind == ToolCall && role == Assistant:
		if b.CallID == "" || calls[b.CallID] {
			return choir.Invalid("call_id", "must be an id that no other call of the message has, not %q", b.CallID)
		}
		if b.Tool == "" {
			return choir.Invalid("tool", "is required")
		}
		if !isObject(b.Input) {
			return choir.Invalid("input", "must be an object")
		}
		calls[b.CallID] = true
		return nil
	case b.Kind == ToolResult && role == User:
		if !open[b.CallID] {
			return choir.Invalid("call_id", "%q is no open tool call of the message before it", b.CallID)
		}
		delete(open, b.CallID)
		return checkImages(b.Images)
	case b.Kind == Thinking && role == Assistant:
		return nil
	case b.Kind == Picture && role == User:
		if len(b.Images) != 1 {
			return choir.Invalid("images", "must have one item, not %d", len(b.Images))
		}
		return checkImages(b.Images)
	case slices.Contains([]BlockKind{ToolCall, ToolResult, Thinking, Picture}, b.Kind):
		return choir.Invalid("kind", "a %s cannot be in a message of the %s", b.Kind, role)
	}
	return choir.Invalid("kind", "must be text, thinking, image, tool_call or tool_result, not %q", b.Kind)
}

// imageTypes are the media types of images that every provider reads.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// checkImages validates the images of a block.
func checkImages(images []Image) error {
	for i, m := range images {
		at := "images[" + strconv.Itoa(i) + "]"
		if !slices.Contains(imageTypes, m.MediaType) {
			return choir.Invalid(at+".media_type", "must be one of %s, not %q", strings.Join(imageTypes, ", "), m.MediaType)
		}
		if _, err := base64.StdEncoding.DecodeString(m.Data); err != nil || m.Data == "" {
			return choir.Invalid(at+".data", "must be base64 of the image")
		}
	}
	return nil
}

// isObject reports whether raw begins and ends like a JSON object.
func isObject(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) >= 2 && raw[0] == '{' && raw[len(raw)-1] == '}'
}
