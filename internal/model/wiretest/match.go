package wiretest

import (
	"encoding/json"
	"strings"
)

// Seen is a request as a scripted server received it.
type Seen struct {
	Model    string
	System   string
	Stream   bool
	Messages []SeenMessage
	Tools    []string
}

// SeenMessage is one message: the text of all its blocks, and its tool results.
type SeenMessage struct {
	Role    string
	Text    string
	Results []SeenResult
}

// SeenResult is a tool result in a request.
type SeenResult struct {
	Tool    string
	Text    string
	IsError bool
}

// Last returns the last message; zero if there is none.
func (s *Seen) Last() SeenMessage {
	if len(s.Messages) == 0 {
		return SeenMessage{}
	}
	return s.Messages[len(s.Messages)-1]
}

// Turn returns the number of assistant messages plus one.
func (s *Seen) Turn() int {
	n := 1
	for _, m := range s.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// All returns the text of the system prompt and of every message.
func (s *Seen) All() string {
	var b strings.Builder
	b.WriteString(s.System)
	for _, m := range s.Messages {
		b.WriteString("\n" + m.Text)
	}
	return b.String()
}

// holds reports whether a request meets every condition.
func (m *Match) holds(s *Seen) bool {
	switch {
	case !strings.Contains(s.Model, m.Caller),
		m.Model != "" && m.Model != s.Model,
		!strings.Contains(s.System, m.System),
		m.First != "" && (len(s.Messages) == 0 || !strings.Contains(s.Messages[0].Text, m.First)),
		!strings.Contains(s.Last().Text, m.Last),
		m.Turn != 0 && m.Turn != s.Turn(),
		m.Any != "" && !strings.Contains(s.All(), m.Any),
		m.Not != "" && strings.Contains(s.All(), m.Not):
		return false
	}
	return m.ToolResult == "" && m.Tool == "" && m.Error == nil || m.holdsResult(s.Last().Results)
}

// holdsResult reports whether a tool result meets the conditions on results.
func (m *Match) holdsResult(results []SeenResult) bool {
	for _, r := range results {
		if strings.Contains(r.Text, m.ToolResult) && (m.Tool == "" || m.Tool == r.Tool) && (m.Error == nil || *m.Error == r.IsError) {
			return true
		}
	}
	return false
}

// capture returns the values of the rule's captures in a request; false if one is not
// found.
func (r *Rule) capture(s *Seen) (values map[string]string, ok bool) {
	values = map[string]string{}
	text := s.All()
	for name, re := range r.captures {
		found := re.FindAllStringSubmatch(text, -1)
		if len(found) == 0 {
			return nil, false
		}
		last := found[len(found)-1]
		values[name] = last[len(last)-1]
	}
	return values, true
}

// fill replaces {{name}} in text by the value of that name.
func fill(text string, values map[string]string) string {
	for name, v := range values {
		text = strings.ReplaceAll(text, "{{"+name+"}}", v)
	}
	return text
}

// fillJSON replaces {{name}} within the strings of a JSON value, escaped; an empty value
// becomes {}.
func fillJSON(raw json.RawMessage, values map[string]string) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	text := string(raw)
	for name, v := range values {
		quoted, _ := json.Marshal(v)
		text = strings.ReplaceAll(text, "{{"+name+"}}", string(quoted[1:len(quoted)-1]))
	}
	return json.RawMessage(text)
}
