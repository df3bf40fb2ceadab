package taskrunner

import (
	"fmt"
	"strings"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
	"choiros/internal/model"
)

// maxWords limits the model's text in one event, in characters.
const maxWords = 1000

// recordWords appends the model's text beside its tool calls as a progress event, for
// people who follow the task. A response without tool calls is not recorded: its text is
// the summary. Every text is the task's last words until the next. An event of an earlier attempt at the same call is kept.
func (d *dialogue) recordWords(resp model.Response) error {
	var all strings.Builder
	for _, b := range resp.Content {
		if b.Kind == model.Text {
			all.WriteString(b.Text)
		}
	}
	words := []rune(strings.TrimSpace(excerpt.Text([]byte(all.String()))))
	if len(words) == 0 {
		return nil
	}
	d.said = string(words)
	if len(resp.ToolCalls()) == 0 {
		return nil
	}
	if len(words) > maxWords {
		words = append(words[:maxWords-1], '…')
	}
	return d.rec.recordProgress(choir.DeriveID(d.rec.event.Task, "words", itoa(int64(d.made))), string(words))
}

// recordCompaction appends a progress event about a conversation that was shortened.
func (d *dialogue) recordCompaction(c agentloop.Compaction) error {
	text := fmt.Sprintf("The conversation was compacted from %d to %d KB: %s left out", (c.Before+999)/1000, (c.After+999)/1000, count(c.Outputs, "old tool output"))
	if c.Summarized {
		text += ", and what came before the last step summarized"
	}
	return d.rec.recordProgress(choir.DeriveID(d.rec.event.Task, "compacted", itoa(int64(d.made))), text+".")
}
