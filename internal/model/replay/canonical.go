package replay

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// names are what the numbered rules replaced in one request.
type names struct {
	marks  map[string]string // by what stands in the request
	order  []string          // what was replaced, in order of appearance
	counts map[string]int    // by kind
}

// canonical puts a request into canonical form and says what it replaced.
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

// name is the mark of a numbered thing, the same at every appearance.
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

// text applies the rules of a place.
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

// apply replaces the group of every match.
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

// known replaces what has a name already; the longest first, so that a part of
// a thing is not taken for another. Ids of tool calls stand only in their own
// fields.
func (n *names) known() *strings.Replacer {
	var pairs []string
	for _, s := range n.sorted() {
		pairs = append(pairs, s, n.marks[s])
	}
	return strings.NewReplacer(pairs...)
}

// back puts what stands in the request in the place of the marks.
func (n *names) back() *strings.Replacer {
	pairs := []string{"‹=", "‹"}
	for _, s := range n.sorted() {
		pairs = append(pairs, n.marks[s], s)
	}
	return strings.NewReplacer(pairs...)
}

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

// encode writes an answer with marks; decode puts back what stands in the
// request. Ids of the answer's own tool calls stay as they are.
func (n *names) encode(r model.Response) model.Response {
	known := n.known()
	mark := func(s string) string { return known.Replace(strings.ReplaceAll(s, "‹", "‹=")) }
	return mapResponse(r, mark, func(raw json.RawMessage) json.RawMessage { return mapStrings(raw, mark) })
}

// decode works on inputs as text: what stands in the place of a mark needs no
// escape in JSON.
func (n *names) decode(r model.Response) model.Response {
	back := n.back()
	return mapResponse(r, back.Replace, func(raw json.RawMessage) json.RawMessage { return json.RawMessage(back.Replace(string(raw))) })
}

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

// mapStrings replaces every string inside a JSON value.
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
