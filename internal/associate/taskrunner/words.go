package taskrunner

import (
	"strings"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// maxWords bounds what one event has of the model's words, in characters.
const maxWords = 1000

// recordWords records what the model says beside its tool calls, for people who
// follow the task. What it says without calls is the result's summary. Words that an
// earlier attempt at the same call recorded stay as they are.
func (j *job) recordWords(resp model.Response) error {
	if len(resp.ToolCalls()) == 0 {
		return nil
	}
	var all strings.Builder
	for _, b := range resp.Content {
		if b.Kind == model.Text {
			all.WriteString(b.Text)
		}
	}
	words := []rune(strings.TrimSpace(toUTF8([]byte(all.String()))))
	if len(words) == 0 {
		return nil
	}
	if len(words) > maxWords {
		words = append(words[:maxWords-1], '…')
	}
	id := choir.DeriveID(j.event.Task, "words", itoa(int64(j.models)))
	d, err := choir.NewDraft(id, choir.TaskProgressed{Kind: "progress", Text: string(words)})
	if err != nil {
		return err
	}
	err = j.appendEvents(j.mine(d))
	if first := choir.FirstOf(err); first != nil && first.Says(choir.SourceAssociate, d.Type) {
		return nil
	}
	return err
}
