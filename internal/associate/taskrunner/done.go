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

// endTask returns the tool by which the model says that it is done, in the response of its last
// calls. The task goes on if one of these failed, and its check decides as after words alone. It has
// no effects, so it is no tool of the contract.
func (d *dialogue) endTask() agentloop.Tool {
	def := model.ToolDef{
		Name:        "done",
		Description: "Say that you are done, with your last words. Call it in the response of your last calls, as the last of them: if one of them fails, the work goes on and you see why.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string","description":"What you changed and why, or what you found, in the language of the task."}},"required":["summary"],"additionalProperties":false}`),
	}
	return agentloop.Tool{Def: def, Run: func(_ context.Context, call model.Block) (agentloop.Result, error) {
		var in struct {
			Summary string `json:"summary" choir:"len=1..20000"`
		}
		if err := choir.DecodeStrict(call.Input, &in); err != nil {
			return agentloop.Result{Text: err.Error(), IsError: true}, nil
		}
		words := strings.TrimSpace(excerpt.Text([]byte(in.Summary)))
		if words == "" {
			return agentloop.Result{Text: "the summary is blank", IsError: true}, nil
		}
		d.said = words
		return agentloop.Result{Text: "The work is done.", Final: words}, nil
	}}
}
