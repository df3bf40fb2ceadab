package taskrunner

import (
	"context"
	"encoding/json"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// askUser returns the tool by which the model ends the task with a question to the
// user. It has no effects, so it is no tool of the contract, and a task with a list of
// allowed tools is not offered it.
func (d *dialogue) askUser() agentloop.Tool {
	def := model.ToolDef{
		Name:        "ask_user",
		Description: "End the task with a question that only the user can answer. Everything the task changed is taken back. Use it only when you cannot go on in any other way.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","description":"The question."},"choices":{"type":"array","items":{"type":"string"},"description":"Answers to choose from. Default: any text."}},"required":["text"],"additionalProperties":false}`),
	}
	return agentloop.Tool{Def: def, Run: func(_ context.Context, call model.Block) (agentloop.Result, error) {
		var in struct {
			Text    string   `json:"text" choir:"len=1..4000"`
			Choices []string `json:"choices,omitempty" choir:"len=0..16,each=1..400"`
		}
		if err := choir.DecodeStrict(call.Input, &in); err != nil {
			return agentloop.Result{Text: err.Error(), IsError: true}, nil
		}
		id := "q-" + string(choir.DeriveID(d.rec.event.Task, "question", itoa(int64(d.made))))
		d.questions = append(d.questions, choir.Question{ID: id, Text: in.Text, Choices: in.Choices})
		return agentloop.Result{Text: "the task ends with this question", Stop: true}, nil
	}}
}
