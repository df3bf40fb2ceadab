package replay

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// names are the texts of one request that numbered rules replaced by placeholders.
type names struct {
	marks  map[string]string // by replaced text
	order  []string          // replaced texts, in order of appearance
	counts map[string]int    // by kind
}

// canonical returns a request in canonical form, and the texts it replaced. The request
// itself is unchanged.
func canonical(req model.Request) (model.Request, *names, error) {
	n := &names{marks: map[string]string{}, counts: map[string]int{}}
	out := req
	out.System = n.text(req.System, prompts)
	out.Messages = make([]model.Message, len(req.Messages))
	tools := map[string]string{} // the tool of each call
	for i, m := range req.Messages {
		blocks := make([]model.Block, len(m.Content))
		for j, b := range m.Content {
			c, err := n.block(b, m.Role, tools)
			if err != nil {
				return out, n, choir.Wrap("replay.canonical", choir.CodeInvalid, err, "messages[%d].content[%d]", i, j)
			}
			blocks[j] = c
		}
		out.Messages[i] = model.Message{Role: m.Role, Content: blocks}
	}
	return out, n, nil
}

// block returns a block in canonical form. tools collects the tool of each call id.
func (n *names) block(b model.Block, role model.Role, tools map[string]string) (model.Block, error) {
	where := prompts
	switch {
	case b.Kind == model.ToolCall:
		tools[b.CallID] = b.Tool
		raw, err := choir.Canonicalize(b.Input)
		if err != nil {
			return b, err
		}
		b.Input = mapStrings(raw, func(s string) string { return n.text(s, words) })
		b.CallID = n.name(b.CallID, "call")
		return b, nil
	case b.Kind == model.ToolResult && fileTools[tools[b.CallID]]:
		where = files
	case b.Kind == model.ToolResult:
		where = output
	case role == model.Assistant:
		where = words
	}
	b.Text = n.text(b.Text, where)
	if b.CallID != "" {
		b.CallID = n.name(b.CallID, "call")
	}
	return b, nil
}

// name returns the placeholder of a text, such as ‹id-1›. The same text always has the
// same one.
func (n *names) name(s, kind string) string {
	if mark, ok := n.marks[s]; ok {
		return mark
	}
	n.counts[kind]++
	mark := "‹" + kind + "-" + strconv.Itoa(n.counts[kind]) + "›"
	n.marks[s] = mark
	n.order = append(n.order, s)
	return mark
}

// text returns s in canonical form by the rules for its place.
func (n *names) text(s string, where place) string {
	s = strings.ReplaceAll(s, "‹", "‹=")
	if where == files {
		return n.known().Replace(s)
	}
	for _, r := range rules {
		if r.pattern != nil && r.where&where != 0 {
			s = n.apply(r, s)
		}
	}
	return s
}

// apply replaces the group of every match of a rule in s by its placeholder.
func (n *names) apply(r Rule, s string) string {
	found := r.pattern.FindAllStringSubmatchIndex(s, -1)
	if found == nil {
		return s
	}
	var out strings.Builder
	end := 0
	for _, m := range found {
		out.WriteString(s[end:m[2]])
		if r.Numbered {
			out.WriteString(n.name(s[m[2]:m[3]], r.Kind))
		} else {
			out.WriteString("‹" + r.Kind + "›")
		}
		end = m[3]
	}
	out.WriteString(s[end:])
	return out.String()
}

// known returns a replacer of the texts by their placeholders, the longest text first,
// since one may contain another. Ids of tool calls are left out.
func (n *names) known() *strings.Replacer {
	var pairs []string
	for _, s := range n.sorted() {
		pairs = append(pairs, s, n.marks[s])
	}
	return strings.NewReplacer(pairs...)
}

// back returns a replacer of the placeholders by the request's texts.
func (n *names) back() *strings.Replacer {
	pairs := []string{"‹=", "‹"}
	for _, s := range n.sorted() {
		pairs = append(pairs, n.marks[s], s)
	}
	return strings.NewReplacer(pairs...)
}

// sorted returns the replaced texts except ids of tool calls, the longest first.
func (n *names) sorted() []string {
	var out []string
	for _, s := range n.order {
		if !strings.HasPrefix(n.marks[s], "‹call-") {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// encode replaces the request's texts in an answer by placeholders, for the recording.
// Ids of the answer's own tool calls stay.
func (n *names) encode(r model.Response) model.Response {
	known := n.known()
	mark := func(s string) string { return known.Replace(strings.ReplaceAll(s, "‹", "‹=")) }
	return mapResponse(r, mark, func(raw json.RawMessage) json.RawMessage { return mapStrings(raw, mark) })
}

// decode replaces placeholders in a recorded answer by the request's texts. Tool inputs
// are replaced as text, because those texts need no escaping in JSON.
func (n *names) decode(r model.Response) model.Response {
	back := n.back()
	return mapResponse(r, back.Replace, func(raw json.RawMessage) json.RawMessage { return json.RawMessage(back.Replace(string(raw))) })
}

// mapResponse returns an answer with text applied to its texts, and input to its tool
// inputs.
func mapResponse(r model.Response, text func(string) string, input func(json.RawMessage) json.RawMessage) model.Response {
	var content []model.Block
	for _, b := range r.Content {
		b.Text = text(b.Text)
		if b.Kind == model.ToolCall {
			b.Input = input(b.Input)
		}
		content = append(content, b)
	}
	r.Content = content
	return r
}

// mapStrings returns a JSON value with fn applied to each string in it. Invalid JSON is
// kept from the first error on.
func mapStrings(raw json.RawMessage, fn func(string) string) json.RawMessage {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			out = append(out, raw[i])
			continue
		}
		end := i + 1
		for end < len(raw) && raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(raw) {
			return append(out, raw[i:]...) // no JSON; kept as it is
		}
		var s string
		if json.Unmarshal(raw[i:end+1], &s) != nil {
			out = append(out, raw[i:end+1]...)
		} else {
			out = choir.AppendCanonicalString(out, fn(s))
		}
		i = end
	}
	return out
}
