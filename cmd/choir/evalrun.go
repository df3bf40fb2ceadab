package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"choiros/internal/choir"
	"choiros/internal/control/api"
	"choiros/internal/eval"
	"choiros/internal/eventstore"
)

// workOn runs a task on a computer, puts the figures into o and returns the project as it is then.
func (e *evaluation) workOn(ctx context.Context, c *evalComputer, t eval.Task, base eval.Tree, o *eval.Outcome) (eval.Tree, error) {
	if err := c.add(ctx, t.Name, base); err != nil {
		return nil, err
	}
	var u eventstore.Usage
	var err error
	if e.options.program != "" {
		u, err = e.runProgram(ctx, c, t, o)
	} else {
		u, err = c.runPrompt(ctx, t, o)
	}
	if err != nil {
		return nil, err
	}
	o.Calls, o.InputTokens, o.OutputTokens, o.CachedTokens, o.CostUSD = u.Calls, u.InputTokens, u.OutputTokens, u.CachedTokens, u.CostUSD
	return c.tree(ctx, t.Name, base)
}

// stopping bounds the wait for a run that is told to stop.
const stopping = time.Minute

// runPrompt prompts choir's agents, waits until the run ends, asks or is late, and stops it if it is open
// then. It returns what its model calls used.
func (c *evalComputer) runPrompt(ctx context.Context, t eval.Task, o *eval.Outcome) (eventstore.Usage, error) {
	var accepted api.Accepted
	if err := c.client.post(ctx, c.client.path("/prompts"), api.PromptRequest{Text: t.Prompt, Repo: t.Name}, &accepted); err != nil {
		return eventstore.Usage{}, err
	}
	limited, cancel := context.WithTimeout(ctx, t.Limit)
	defer cancel()
	v, err := c.app.untilItEnds(limited, c.client, accepted.Run, 0)
	o.Said, o.Verified = claimOf(v)
	if limited.Err() != nil && ctx.Err() == nil {
		o.Said, err = "late", nil
	}
	if err == nil && (o.Said == "late" || v.State.Open()) {
		v, err = c.stopRun(ctx, accepted.Run)
	}
	if v.State == eventstore.RunFailed {
		o.Why = v.Answer
	}
	return v.Usage, err
}

// stopRun stops a run and waits until it has ended.
func (c *evalComputer) stopRun(ctx context.Context, run choir.ID) (v api.RunView, err error) {
	ctx, cancel := context.WithTimeout(ctx, stopping)
	defer cancel()
	if err := c.client.post(ctx, c.client.path("/runs/"+string(run)+"/cancel"), struct{}{}, nil); err != nil {
		return v, err
	}
	for {
		if v, err = c.app.untilItEnds(ctx, c.client, run, v.LastSeq); err != nil || !v.State.Open() {
			return v, err
		}
	}
}

// claimOf returns how a run says that it ended, and whether that is done with its last change verified: by
// its task, or by a later task of the same step, whose checks ran on the files with the change in them.
func claimOf(v api.RunView) (said string, verified bool) {
	said = string(v.State)
	if v.State == eventstore.RunDone && v.Status != "" {
		said = string(v.Status)
	}
	changed := ""
	for _, task := range v.Tasks {
		r := task.Result
		if r == nil || r.Status != choir.StatusOK {
			continue
		}
		passed := r.Verify.Status == choir.VerifyPass
		switch {
		case len(r.FilesChanged) > 0:
			changed, verified = task.Step, passed
		case passed && changed != "" && task.Step == changed:
			verified = true
		}
	}
	return said, verified && said == string(eventstore.RunDone)
}

// exitLine is printed behind a program, so that a program that fails keeps what it did: a task that fails is
// taken back.
var exitLine = regexp.MustCompile(`choir-eval-exit (\d+)\s*$`)

// runProgram runs the other program on the project, in one task that may call models, and waits for its end.
func (e *evaluation) runProgram(ctx context.Context, c *evalComputer, t eval.Task, o *eval.Outcome) (u eventstore.Usage, err error) {
	limit := wholeSeconds(t.Limit)
	// timeout ends the program and all that it has in its process group.
	script := fmt.Sprintf("printf '%%s\\n' \"$1\" | timeout -k 5 %d sh -c %s sh \"$1\"\nprintf '\\nchoir-eval-exit %%s\\n' \"$?\" >&2", limit, quoteShell(e.options.program))
	result, err := c.do(ctx, choir.DirectorTask{
		Kind: choir.TaskEditRepo, Instruction: "Run another agent program.", Repo: t.Name, TimeBudgetS: limit + 60,
		Commands:      []choir.Command{{Argv: []string{"sh", "-c", script, "sh", t.Prompt}}},
		VerifyProfile: &choir.VerifyProfile{Mode: choir.VerifyNone},
		ModelBudget:   &choir.ModelBudget{Calls: e.options.calls},
	})
	if err != nil {
		return u, err
	}
	o.Said = "failed"
	if n := len(result.CommandsRun); n > 0 {
		switch m := exitLine.FindStringSubmatch(result.CommandsRun[n-1].StderrTail); {
		case m == nil:
		case m[1] == "0":
			o.Said = "done"
		case m[1] == "124", m[1] == "137":
			o.Said = "late"
		default:
			o.Said = "exit " + m[1]
		}
	}
	if o.Said != "done" {
		o.Why = lastWords(result)
	}
	return c.usageOf(ctx, result.RunID)
}

// usageOf sums what the model calls of a run used, from the log.
func (c *evalComputer) usageOf(ctx context.Context, run choir.ID) (u eventstore.Usage, err error) {
	for after := uint64(0); ; {
		page, err := c.client.events(ctx, run, after, false)
		if err != nil || len(page.Events) == 0 {
			return u, err
		}
		for _, e := range page.Events {
			after = e.Seq
			if e.Type != choir.TypeModelReturned {
				continue
			}
			p, err := choir.ReadPayload(e.Type, e.Payload)
			if err != nil {
				return u, err
			}
			r := p.(*choir.ModelReturned)
			u.Calls, u.InputTokens, u.OutputTokens = u.Calls+1, u.InputTokens+r.InputTokens, u.OutputTokens+r.OutputTokens
			u.CachedTokens, u.CostUSD = u.CachedTokens+r.CachedTokens, u.CostUSD+r.CostUSD
		}
	}
}

// quoteShell quotes a text as one word for sh.
func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
