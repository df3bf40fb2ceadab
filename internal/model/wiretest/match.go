package wiretest

import (
	"encoding/json"
	"strings"
)

// Seen is a request as a scripted server saw it.
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

// SeenResult is a tool's result.
type SeenResult struct {
	Tool    string
	Text    string
	IsError bool
}

// Last is the last message; zero when there is none.
func (s *Seen) Last() SeenMessage {
	if len(s.Messages) == 0 {
		return SeenMessage{}
	}
	return s.Messages[len(s.Messages)-1]
}

// Turn is one more than the number of assistant messages.
func (s *Seen) Turn() int {
	n := 1
	for _, m := range s.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// All is the whole text: system prompt, then every message.
func (s *Seen) All() string {
	var b strings.Builder
	b.WriteString(s.System)
	for _, m := range s.Messages {
		b.WriteString("\n" + m.Text)
	}
	return b.String()
}

// holds reports whether every condition is met.
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

func (m *Match) holdsResult(results []SeenResult) bool {
	for _, r := range results {
		if strings.Contains(r.Text, m.ToolResult) && (m.Tool == "" || m.Tool == r.Tool) && (m.Error == nil || *m.Error == r.IsError) {
			return true
		}
	}
	return false
}

// capture finds the values of the rule; ok is false when one is not there.
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

// fill replaces {{name}} in text.
func fill(text string, values map[string]string) string {
	for name, v := range values {
		text = strings.ReplaceAll(text, "{{"+name+"}}", v)
	}
	return text
}

// fillJSON replaces {{name}} inside the strings of a JSON value.
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
