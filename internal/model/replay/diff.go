package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"choiros/internal/model"
)

// maxDiff is the maximum length of a diff, in lines.
const maxDiff = 120

// diff returns a unified diff of two canonical requests rendered as text, at most
// maxDiff lines.
func diff(recorded, asked model.Request) string {
	text := udiff.Unified("recorded", "asked", render(recorded), render(asked))
	lines := strings.SplitAfter(text, "\n")
	if len(lines) > maxDiff {
		text = strings.Join(lines[:maxDiff], "") + fmt.Sprintf("... and %d lines more\n", len(lines)-maxDiff)
	}
	return text
}

// render returns a request as readable text for a diff.
func render(r model.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "model %s, max_tokens %d, tool_choice %q\n", r.Model, r.MaxTokens, r.ToolChoice)
	for _, t := range r.Tools {
		fmt.Fprintf(&b, "tool %s: %s\n", t.Name, t.Description)
		renderJSON(&b, t.Schema)
	}
	b.WriteString("system\n")
	renderText(&b, r.System)
	for i, m := range r.Messages {
		for _, c := range m.Content {
			switch c.Kind {
			case model.ToolCall:
				fmt.Fprintf(&b, "message %d, %s calls %s (%s)\n", i+1, m.Role, c.Tool, c.CallID)
				renderJSON(&b, c.Input)
			case model.ToolResult:
				fmt.Fprintf(&b, "message %d, result of %s, error %t\n", i+1, c.CallID, c.IsError)
				renderText(&b, c.Text)
			default:
				fmt.Fprintf(&b, "message %d, %s says\n", i+1, m.Role)
				renderText(&b, c.Text)
			}
		}
	}
	return b.String()
}

func renderText(b *strings.Builder, s string) {
	for line := range strings.SplitSeq(s, "\n") {
		b.WriteString("  " + line + "\n")
	}
}

func renderJSON(b *strings.Builder, raw json.RawMessage) {
	var out bytes.Buffer
	if json.Indent(&out, raw, "  ", "  ") != nil {
		out.Reset()
		out.Write(raw)
	}
	b.WriteString("  " + out.String() + "\n")
}
