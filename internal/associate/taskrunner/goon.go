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
func (j *job) goOn(ctx context.Context, cfg *agentloop.Config) error {
	if j.past == nil {
		return nil
	}
	var asked model.Request
	if err := j.readBlob(ctx, j.past.Request, &asked); err != nil {
		return err
	}
	cfg.Messages = asked.Messages
	j.models, j.calls.made = j.past.Models, j.past.Calls
	j.todos = 1000 * j.begun // so that no list has the id of an earlier one
	cfg.MaxSteps = max(1, cfg.MaxSteps-j.past.Models+1)
	if cfg.TokenBudget > 0 {
		cfg.TokenBudget = max(1, cfg.TokenBudget-j.past.InputTokens-j.past.OutputTokens)
	}
	j.clock.spend(time.Duration(j.past.WorkedMS) * time.Millisecond)
	if j.past.Response != "" {
		var answer model.Response
		if err := j.readBlob(ctx, j.past.Response, &answer); err != nil {
			return err
		}
		answer.Usage = model.Usage{} // which is counted in past
		cfg.Answered = &answer
		if len(answer.ToolCalls()) == 0 {
			j.calls.made = j.past.AllCalls // its checks
			return nil
		}
	}
	j.notice = startedAgain
	return nil
}

// readBlob decodes the JSON of a blob into into.
func (j *job) readBlob(ctx context.Context, d choir.Digest, into any) error {
	raw, err := j.cfg.Blobs.GetBlob(ctx, d)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	return choir.Wrap("task.past", choir.CodeCorrupt, err, "read what the task did before")
}

// madeBefore returns the result of a tool call that a former process made; nil for none.
func (j *job) madeBefore(call choir.ID) *agentloop.Result {
	if j.past == nil {
		return nil
	}
	for _, r := range j.past.Returned {
		if r.Call == call {
			return &agentloop.Result{Text: r.Output, IsError: !r.OK}
		}
	}
	return nil
}
