package agentloop

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Compaction is the outcome of shortening a conversation so that it fits the model's context.
type Compaction struct {
	Outputs    int  // outputs of tools left out
	Summarized bool // the middle of the conversation was replaced by a summary
	Before     int  // bytes before
	After      int  // bytes after
}

const (
	shortOutput   = 400  // bytes of an output that is not worth leaving out
	imageBytes    = 5000 // an image counts as so many bytes of text, whatever its file has
	summaryTokens = 2000
	maxListed     = 100 // calls in a summary that no model wrote
)

// summarize asks the model for a summary, when leaving out old outputs is not enough.
const summarize = "[The conversation is too long to go on. It is replaced by what you write now, after the first message and before your last calls. " +
	"Call no tool. Write down all that is needed to finish: what is done, in which files; what was found out, with names and lines; what failed and why; what the user added, word for word; what is left.]"

// summaryHead begins a summary in the conversation.
const summaryHead = "[To save room, the conversation from here on was replaced by this summary of it:]\n"

// callModel calls the model. A conversation larger than MaxContext is compacted before, and a
// conversation that the provider refuses as too large is compacted once and sent again.
func (l *loop) callModel(ctx context.Context) (model.Response, error) {
	if size := sizeOf(l.out.Messages); l.MaxContext > 0 && size > l.MaxContext {
		if err := l.compact(ctx, l.MaxContext/2); err != nil {
			return model.Response{}, err
		}
	}
	res, err := l.Model.Call(ctx, l.request(), l.OnDelta)
	if l.MaxContext == 0 || choir.CodeOf(err) != choir.CodeTooLarge {
		return res, err
	}
	before := sizeOf(l.out.Messages)
	l.MaxContext = max(1, min(l.MaxContext, before*3/4))
	if cerr := l.compact(ctx, before/2); cerr != nil {
		return res, cerr
	}
	if sizeOf(l.out.Messages) >= before {
		return res, err
	}
	return l.Model.Call(ctx, l.request(), l.OnDelta)
}

// compact shortens the conversation to about target bytes. Old outputs of tools go first; if
// that is not enough, a summary takes the place of all but the first message and the last
// exchange. The first message never changes.
func (l *loop) compact(ctx context.Context, target int) error {
	done := Compaction{Before: sizeOf(l.out.Messages)}
	messages := slices.Clone(l.out.Messages)
	size := done.Before
	for i := 1; i < len(messages)-1 && size > target; i++ {
		content, n, saved := withoutOutputs(messages[i], messages[i-1])
		messages[i].Content = content
		done.Outputs += n
		size -= saved
	}
	l.out.Messages = messages
	if size > target {
		var err error
		if done.Summarized, err = l.replaceMiddle(ctx); err != nil {
			return err
		}
	}
	if done.Outputs == 0 && !done.Summarized {
		return nil // there is nothing to leave out
	}
	if !done.Summarized {
		l.appendText(fmt.Sprintf("[To save room, %d old outputs of tools were left out above; each says how to get it again.]", done.Outputs))
	}
	if done.After = sizeOf(l.out.Messages); l.Compacted != nil {
		return l.Compacted(done)
	}
	return nil
}

// withoutOutputs returns the content of a message with long outputs replaced by a line that says
// how to get them again, their number, and the bytes saved. before has the calls.
func withoutOutputs(m, before model.Message) (content []model.Block, n, saved int) {
	content = slices.Clone(m.Content)
	for i, b := range content {
		if b.Kind != model.ToolResult || sizeOfBlock(b) <= shortOutput {
			continue
		}
		call := slices.IndexFunc(before.Content, func(c model.Block) bool { return c.Kind == model.ToolCall && c.CallID == b.CallID })
		what := "a tool"
		if call >= 0 {
			what = describe(before.Content[call])
		}
		old := sizeOfBlock(b)
		content[i].Images = nil
		content[i].Text = fmt.Sprintf("[%d bytes, left out to save room: the output of %s. Call again if you need it.]", len(b.Text), what)
		saved += old - sizeOfBlock(content[i])
		n++
	}
	return content, n, saved
}

// describe returns a tool call in one short line.
func describe(call model.Block) string {
	input := string(call.Input)
	if len(input) > 200 {
		input = strings.ToValidUTF8(input[:200], "") + "…"
	}
	return call.Tool + " " + input
}

// replaceMiddle replaces the conversation between the first message and the last exchange by a
// summary, which the model writes, or else a list of its calls. It reports false if there is no
// middle.
func (l *loop) replaceMiddle(ctx context.Context) (bool, error) {
	all := l.out.Messages
	last := len(all) - 1
	for last > 1 && all[last].Role != model.Assistant {
		last--
	}
	if last < 2 {
		return false, nil
	}
	words, err := l.askSummary(ctx)
	if err != nil {
		return false, err
	}
	if words == "" {
		words = listCalls(all[1:last])
	}
	first := all[0]
	// A former summary was read for this one.
	first.Content = slices.DeleteFunc(slices.Clone(first.Content), func(b model.Block) bool { return strings.HasPrefix(b.Text, summaryHead) })
	first.Content = append(first.Content, model.Block{Kind: model.Text, Text: summaryHead + words})
	l.out.Messages = append([]model.Message{first}, all[last:]...)
	return true, nil
}

// askSummary asks the model for a summary; "" if it writes none, or cannot read the conversation.
func (l *loop) askSummary(ctx context.Context) (string, error) {
	ask := *l
	ask.MaxTokens = summaryTokens
	ask.out.Messages = slices.Clone(l.out.Messages)
	ask.appendText(summarize)
	res, err := l.Model.Call(ctx, ask.request(), nil)
	if choir.CodeOf(err) == choir.CodeTooLarge {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	l.out.Steps++
	addUsage(&l.out.Usage, res.Usage)
	return textOf(res), nil
}

// listCalls returns the tool calls of messages, one a line, the last ones if there are many.
func listCalls(messages []model.Message) string {
	var calls []string
	for _, m := range messages {
		for _, b := range m.Content {
			if b.Kind == model.ToolCall {
				calls = append(calls, "- "+describe(b))
			}
		}
	}
	return "You called, in this order:\n" + strings.Join(calls[max(0, len(calls)-maxListed):], "\n")
}

// sizeOf returns the size of a conversation in bytes of text.
func sizeOf(messages []model.Message) int {
	size := 0
	for _, m := range messages {
		for _, b := range m.Content {
			size += sizeOfBlock(b)
		}
	}
	return size
}

func sizeOfBlock(b model.Block) int { return len(b.Text) + len(b.Input) + imageBytes*len(b.Images) }

// textOf returns the text of an answer.
func textOf(res model.Response) string {
	var text strings.Builder
	for _, b := range res.Content {
		if b.Kind == model.Text {
			text.WriteString(b.Text)
		}
	}
	return strings.TrimSpace(text.String())
}
