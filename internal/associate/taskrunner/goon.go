package taskrunner

import (
	"context"
	"encoding/json"
	"time"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// startedAgain tells the model of a task that goes on what was lost.
const startedAgain = "[The computer was started again while this task was paused. Files are as they were; commands that still ran have ended.]"

// goOn makes the agent loop of a task whose run was paused, when a former process of the
// Associate ended, go on from the log: after the last answer of the model, whose tool calls
// are executed that were not, or where that answer is missing with its request once more.
func (d *dialogue) goOn(ctx context.Context, cfg *agentloop.Config) error {
	if d.past == nil {
		return nil
	}
	var asked model.Request
	if err := d.readBlob(ctx, d.past.Request, &asked); err != nil {
		return err
	}
	cfg.Messages = asked.Messages
	d.made, d.calls.made = d.past.Models, d.past.Calls
	d.todos = 1000 * d.begun // so that no list has the id of an earlier one
	cfg.MaxSteps = max(1, cfg.MaxSteps-d.past.Models+1)
	if cfg.TokenBudget > 0 {
		cfg.TokenBudget = max(1, cfg.TokenBudget-d.past.InputTokens-d.past.OutputTokens)
	}
	d.clock.spend(time.Duration(d.past.WorkedMS) * time.Millisecond)
	if d.past.Response != "" {
		var answer model.Response
		if err := d.readBlob(ctx, d.past.Response, &answer); err != nil {
			return err
		}
		answer.Usage = model.Usage{} // which is counted in past
		cfg.Answered = &answer
		if len(answer.ToolCalls()) == 0 {
			d.calls.made = d.past.AllCalls // its checks
			return nil
		}
	}
	d.notice = startedAgain
	return nil
}

// readBlob decodes the JSON of a blob into into.
func (d *dialogue) readBlob(ctx context.Context, digest choir.Digest, into any) error {
	raw, err := d.rec.blobs.GetBlob(ctx, digest)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	return choir.Wrap("task.past", choir.CodeCorrupt, err, "read what the task did before")
}

// madeBefore returns the result of a tool call that a former process made; nil for none.
func (d *dialogue) madeBefore(call choir.ID) *agentloop.Result {
	if d.past == nil {
		return nil
	}
	for _, r := range d.past.Returned {
		if r.Call == call {
			return &agentloop.Result{Text: r.Output, IsError: !r.OK}
		}
	}
	return nil
}
