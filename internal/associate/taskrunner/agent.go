package taskrunner

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"choiros/internal/agentloop"
	"choiros/internal/associate/command"
	"choiros/internal/associate/tools"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
	"choiros/internal/model"
)

// maxRefused is the number of refused tool calls after which the task ends.
const maxRefused = 5

// maxContext is the size of a conversation, in bytes, above which it is compacted: about 120,000
// tokens, which leaves room in the smallest context of the models in use.
const maxContext = 400_000

// modelName is the model alias that the gateway maps to the Associate's model.
const modelName = "associate"

// The parts of the system prompt. A task that only reads is told nothing of changes.
const (
	systemHead = `You are the Associate of an Automatic Computer. You work in a sandbox and carry out one task, which the Director gave you.
`
	systemEdit = `Work in the task's folder. Read before you change. Make the smallest change that reaches the goal, and check it yourself as far as your tools allow. Calls of one response run in their order: read what you need at once, and try a change in the response that makes it.
Nobody answers while you work. When you are done, call done and say in a few sentences, in the language of the task, what you changed and why, or what you found: in the response of your last calls, if you only wait for them to succeed. The first paragraph becomes the text of the commit. Do not commit: a verified change is committed for you, and one that fails verification in the end is taken back.`
	systemLook = `Work in the task's folder and change nothing.
Nobody answers while you work. When you are done, call done and say, in the language of the task, what you found, with the files and lines that show it.`
)

// system returns the system prompt, which is the same for all tasks of a kind.
func (j *job) system() string {
	if j.task.Kind == choir.TaskInspect {
		return systemHead + systemLook
	}
	return systemHead + systemEdit
}

// runAgent runs the agent loop on the task until the model is done or a limit is
// reached, and fills in usage and summary. It returns a *failure for a limit.
func (j *job) runAgent(ctx context.Context) error {
	base, err := filepath.Rel(j.place.scope.Top, j.place.scope.Root)
	if err != nil {
		return err
	}
	files, err := tools.OpenWorkspace(j.place.scope.Top, filepath.ToSlash(base))
	if err != nil {
		return err
	}
	defer files.Close()
	kit := &tools.Kit{Files: files, Shell: j.commands.Shell, Running: j.commands.AwaitCommand, Convert: j.programs.Convert, Picture: j.programs.Picture}
	defer j.commands.EndAll()
	l := command.NewLive(j.live)
	cfg := agentloop.Config{
		Model: (*caller)(j), ModelName: modelName, System: j.system(),
		Messages: []model.Message{agentloop.Say(model.User, j.prompt(ctx)+projectWords(files))},
		Tools:    j.tools(kit), Unknown: j.refuse,
		MaxSteps: j.cfg.MaxSteps, TokenBudget: int64(j.task.TokenBudget), Review: j.review, Remind: j.remind, Steer: j.hearSteering,
		MaxContext: maxContext, Compacted: j.recordCompaction,
		OnDelta: func(d model.Delta) { l.Show([]byte(d.Text)) },
	}
	if err := j.goOn(ctx, &cfg); err != nil {
		return err
	}
	out, err := agentloop.Run(ctx, cfg)
	ended := j.ended(out)
	if gone := j.ranOut(ctx, out); gone != "" {
		j.said = cmp.Or(j.askLastWords(cfg, &out, gone), j.said)
	}
	l.Flush()
	u := &j.report.result.Usage
	u.Model, u.InputTokens, u.OutputTokens = out.Model, out.Usage.Input, out.Usage.Output
	u.CachedTokens, u.CostUSD = out.Usage.CacheRead, out.Usage.CostUSD
	if j.past != nil {
		u.InputTokens, u.OutputTokens = u.InputTokens+j.past.InputTokens, u.OutputTokens+j.past.OutputTokens
	}
	j.report.result.Summary = out.Final
	if err != nil {
		return err
	}
	return ended
}

// ended returns the *failure for the reason why the agent loop stopped, nil if the model
// was done.
func (j *job) ended(out agentloop.Outcome) error {
	switch out.Stopped {
	case agentloop.Steps:
		return fail(choir.ResultLimit, "the task was not done after %d steps", out.Steps)
	case agentloop.Tokens:
		return fail(choir.ResultTokenBudget, "the task was not done within its token budget of %d", j.task.TokenBudget)
	case agentloop.Length:
		return fail(choir.ResultModelError, "the model's last answer was cut off")
	case agentloop.Refusal:
		return fail(choir.ResultModelError, "the model refused: %s", excerpt.FirstLine(out.Final, 400))
	case agentloop.NoProgress:
		if j.refused == 0 {
			return fail(choir.ResultLimit, "the model repeated the same failing call and made no progress")
		}
		return fail(choir.ResultToolRefused, "the model kept calling tools that this task does not allow")
	case agentloop.ByTool:
		if j.refused >= maxRefused {
			return fail(choir.ResultToolRefused, "the model called tools that this task does not allow, %d times", j.refused)
		}
	}
	return nil
}

// prompt returns the task as the model's first message. It has no ids, times or folders,
// so that equal tasks make equal requests.
func (j *job) prompt(ctx context.Context) string {
	var b strings.Builder
	b.WriteString(j.task.Instruction)
	if len(j.task.AcceptanceCriteria) > 0 {
		b.WriteString("\n\nIt will be judged by:\n")
		for _, c := range j.task.AcceptanceCriteria {
			b.WriteString("- " + c + "\n")
		}
	}
	switch j.task.Kind {
	case choir.TaskInspect:
		b.WriteString("\n\nThis task reads only: nothing is changed.")
	case choir.TaskRun:
		b.WriteString("\n\nThis task runs things and changes no file: changes of tracked and new files are taken back.")
	}
	return strings.TrimRight(b.String(), "\n") + "\n\n" + j.conditions(ctx)
}

// tools returns the tools offered to the model: the permitted ones and done, and todo and ask_user
// unless the task lists its tools.
func (j *job) tools(kit *tools.Kit) []agentloop.Tool {
	var offered []agentloop.Tool
	for _, name := range j.permitted() {
		offered = append(offered, agentloop.Tool{Def: tools.Def(name), Run: func(ctx context.Context, call model.Block) (agentloop.Result, error) {
			return j.call(ctx, kit, call)
		}})
	}
	offered = append(offered, j.endTask())
	if len(j.task.AllowedTools) == 0 {
		offered = append(offered, j.keepTodo(), j.askUser())
	}
	return offered
}

// permitted returns the tools that the task may call.
func (j *job) permitted() []choir.Tool { return tools.Permitted(j.task.Kind, j.task.AllowedTools) }

// refuse records a call of a tool that the task does not allow and returns the refusal
// for the model. After maxRefused of them it stops the loop.
func (j *job) refuse(_ context.Context, call model.Block) (agentloop.Result, error) {
	j.refused++
	j.egress = j.egress || call.Tool == string(choir.ToolFetchURL)
	names := make([]string, 0, 8)
	for _, n := range j.permitted() {
		names = append(names, string(n))
	}
	slices.Sort(names)
	out := tools.Output{Code: choir.CodeRefused, Text: "this task does not allow the tool " + call.Tool + "; it allows: " + strings.Join(names, ", ")}
	if strings.Contains(call.Tool, "patch") && slices.Contains(names, string(choir.ToolEditFile)) {
		out.Text += ". edit_file takes a patch in its field patch"
	}
	if err := j.calls.recordRefusal(call, out); err != nil {
		return agentloop.Result{}, err
	}
	return agentloop.Result{Text: out.Text, IsError: true, Stop: j.refused >= maxRefused}, nil
}

// caller implements agentloop.Caller for a job. The ids of model calls are derived from
// the task's, so that the gateway answers a repeated call from the log.
type caller job

// Call implements agentloop.Caller.
func (c *caller) Call(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
	if err := c.gate.wait(ctx); err != nil {
		return model.Response{}, err
	}
	c.models++
	info := model.CallInfo{Call: choir.DeriveID(c.event.Task, "model", itoa(int64(c.models))), Run: c.event.Run, Task: c.event.Task, Caller: "associate"}
	c.clock.change(waiting)
	resp, err := c.cfg.Models.Call(ctx, info, req, on)
	c.clock.change(working)
	if err == nil {
		return resp, (*job)(c).recordWords(resp)
	}
	if ctx.Err() != nil || choir.CodeOf(err) == choir.CodeTooLarge {
		return resp, err // the loop compacts the conversation
	}
	if code := choir.CodeOf(err); code == choir.CodeBudget {
		return resp, fail(choir.ResultTokenBudget, "%v", err)
	}
	return resp, fail(choir.ResultModelError, "the model could not be called: %v", err)
}
