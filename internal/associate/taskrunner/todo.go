package taskrunner

import (
	"context"
	"encoding/json"
	"strings"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
	"choiros/internal/model"
)

// todoInput is the input of the tool todo.
type todoInput struct {
	Items []todoItem `json:"items" choir:"len=1..50"`
}

// todoItem is a step of the model's own plan.
type todoItem struct {
	Text   string `json:"text" choir:"len=1..400"`
	Status string `json:"status" choir:"enum=pending|in_progress|done"`
}

// keepTodo returns the tool by which the model keeps a list of its steps, which people see while it
// works. It has no effects, so it is no tool of the contract, and a task with a list of allowed
// tools is not offered it.
func (d *dialogue) keepTodo() agentloop.Tool {
	def := model.ToolDef{
		Name:        "todo",
		Description: "Write down the steps of work that has more than three, and call it again, with the whole list, when one is begun or done. People see the list.",
		Schema: json.RawMessage(`{"type":"object","properties":{"items":{"type":"array","minItems":1,"maxItems":50,"items":{"type":"object","properties":{
		"text":{"type":"string","description":"The step, in a few words."},
		"status":{"type":"string","enum":["pending","in_progress","done"],"description":"How far it is."}},
		"required":["text","status"],"additionalProperties":false}}},"required":["items"],"additionalProperties":false}`),
	}
	return agentloop.Tool{Def: def, Run: func(_ context.Context, call model.Block) (agentloop.Result, error) {
		var in todoInput
		if err := choir.DecodeStrict(call.Input, &in); err != nil {
			return agentloop.Result{Text: err.Error(), IsError: true}, nil
		}
		d.todos++
		words := []rune(excerpt.Text([]byte(in.list())))
		if len(words) > maxWords {
			words = append(words[:maxWords-1], '…')
		}
		return agentloop.Result{Text: "The list is kept."}, d.rec.recordProgress(choir.DeriveID(d.rec.event.Task, "todo", itoa(int64(d.todos))), string(words))
	}}
}

// list returns the steps as a list with boxes.
func (in *todoInput) list() string {
	boxes := map[string]string{"pending": "[ ] ", "in_progress": "[~] ", "done": "[x] "}
	var lines []string
	for _, item := range in.Items {
		lines = append(lines, boxes[item.Status]+strings.Join(strings.Fields(item.Text), " "))
	}
	return strings.Join(lines, "\n")
}
