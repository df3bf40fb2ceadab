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

// steerer returns the texts that people added to a run; see Tree.
type steerer interface {
	Steering(ctx context.Context, task choir.ID, call int) (choir.TaskSteeringReply, error)
}

// dialogue is the conversation with the model that works on one task, with the tools that it is
// offered.
type dialogue struct {
	rec       *record
	task      *choir.DirectorTask
	place     *place
	gate      gate
	calls     *toolCalls
	commands  *command.Commands
	programs  *command.Programs
	models    Models
	steering  steerer
	maxSteps  int                                       // model calls
	live      func(text string)                         // shows people what the model says
	announced func(ctx context.Context) string          // the checks that are going to verify the task
	review    func(ctx context.Context) (string, error) // see agentloop.Config

	// Of the time that the task is executed.
	clock   *clock
	mayStop context.Context    // ends when the task is to end, and not with its budgets
	begun   int                // how often the task was begun, this time included
	began   []choir.FileChange // what a former attempt had changed when the task began
	past    *choir.TaskPast    // what an earlier process did that the task goes on from; nil for none

	made      int  // model calls
	refused   int  // tool calls
	egress    bool // a tool call asked for network access
	todos     int  // lists that the model wrote
	questions []choir.Question
	said      string // the model's last words
	told      told
	heard     map[choir.ID]bool // what people added that the model was told
	notice    string            // what the model is to be told with its next call
}

// system returns the system prompt, which is the same for all tasks of a kind.
func (d *dialogue) system() string {
	if d.task.Kind == choir.TaskInspect {
		return systemHead + systemLook
	}
	return systemHead + systemEdit
}

// hold runs the agent loop on the task until the model is done or a limit is reached. It returns
// what came of the loop, nil if it did not begin, and a *failure for a limit.
func (d *dialogue) hold(ctx context.Context) (*agentloop.Outcome, error) {
	base, err := filepath.Rel(d.place.scope.Top, d.place.scope.Root)
	if err != nil {
		return nil, err
	}
	files, err := tools.OpenWorkspace(d.place.scope.Top, filepath.ToSlash(base))
	if err != nil {
		return nil, err
	}
	defer files.Close()
	kit := &tools.Kit{Files: files, Shell: d.commands.Shell, Running: d.commands.AwaitCommand, Convert: d.programs.Convert, Picture: d.programs.Picture}
	defer d.commands.EndAll()
	l := command.NewLive(d.live)
	cfg := agentloop.Config{
		Model: (*caller)(d), ModelName: modelName, System: d.system(),
		Messages: []model.Message{agentloop.Say(model.User, d.prompt(ctx)+projectWords(files))},
		Tools:    d.tools(kit), Unknown: d.refuse,
		MaxSteps: d.maxSteps, TokenBudget: int64(d.task.TokenBudget), Review: d.review, Remind: d.remind, Steer: d.hearSteering,
		MaxContext: maxContext, Compacted: d.recordCompaction,
		OnDelta: func(d model.Delta) { l.Show([]byte(d.Text)) },
	}
	if err := d.goOn(ctx, &cfg); err != nil {
		return nil, err
	}
	out, err := agentloop.Run(ctx, cfg)
	ended := d.ended(out)
	if gone := d.ranOut(ctx, out); gone != "" {
		d.said = cmp.Or(d.askLastWords(cfg, &out, gone), d.said)
	}
	l.Flush()
	if err != nil {
		return &out, err
	}
	return &out, ended
}

// ended returns the *failure for the reason why the agent loop stopped, nil if the model
// was done.
func (d *dialogue) ended(out agentloop.Outcome) error {
	switch out.Stopped {
	case agentloop.Steps:
		return fail(choir.ResultLimit, "the task was not done after %d steps", out.Steps)
	case agentloop.Tokens:
		return fail(choir.ResultTokenBudget, "the task was not done within its token budget of %d", d.task.TokenBudget)
	case agentloop.Length:
		return fail(choir.ResultModelError, "the model's last answer was cut off")
	case agentloop.Refusal:
		return fail(choir.ResultModelError, "the model refused: %s", excerpt.FirstLine(out.Final, 400))
	case agentloop.NoProgress:
		if d.refused == 0 {
			return fail(choir.ResultLimit, "the model repeated the same failing call and made no progress")
		}
		return fail(choir.ResultToolRefused, "the model kept calling tools that this task does not allow")
	case agentloop.ByTool:
		if d.refused >= maxRefused {
			return fail(choir.ResultToolRefused, "the model called tools that this task does not allow, %d times", d.refused)
		}
	}
	return nil
}

// prompt returns the task as the model's first message. It has no ids, times or folders,
// so that equal tasks make equal requests.
func (d *dialogue) prompt(ctx context.Context) string {
	var b strings.Builder
	b.WriteString(d.task.Instruction)
	if len(d.task.AcceptanceCriteria) > 0 {
		b.WriteString("\n\nIt will be judged by:\n")
		for _, c := range d.task.AcceptanceCriteria {
			b.WriteString("- " + c + "\n")
		}
	}
	switch d.task.Kind {
	case choir.TaskInspect:
		b.WriteString("\n\nThis task reads only: nothing is changed.")
	case choir.TaskRun:
		b.WriteString("\n\nThis task runs things and changes no file: changes of tracked and new files are taken back.")
	}
	return strings.TrimRight(b.String(), "\n") + "\n\n" + d.conditions(ctx)
}

// tools returns the tools offered to the model: the permitted ones and done, and todo and ask_user
// unless the task lists its tools.
func (d *dialogue) tools(kit *tools.Kit) []agentloop.Tool {
	var offered []agentloop.Tool
	for _, name := range d.permitted() {
		offered = append(offered, agentloop.Tool{Def: tools.Def(name), Run: func(ctx context.Context, call model.Block) (agentloop.Result, error) {
			return d.call(ctx, kit, call)
		}})
	}
	offered = append(offered, d.endTask())
	if len(d.task.AllowedTools) == 0 {
		offered = append(offered, d.keepTodo(), d.askUser())
	}
	return offered
}

// permitted returns the tools that the task may call.
func (d *dialogue) permitted() []choir.Tool { return tools.Permitted(d.task.Kind, d.task.AllowedTools) }

// refuse records a call of a tool that the task does not allow and returns the refusal
// for the model. After maxRefused of them it stops the loop.
func (d *dialogue) refuse(_ context.Context, call model.Block) (agentloop.Result, error) {
	d.refused++
	d.egress = d.egress || call.Tool == string(choir.ToolFetchURL)
	names := make([]string, 0, 8)
	for _, n := range d.permitted() {
		names = append(names, string(n))
	}
	slices.Sort(names)
	out := tools.Output{Code: choir.CodeRefused, Text: "this task does not allow the tool " + call.Tool + "; it allows: " + strings.Join(names, ", ")}
	if strings.Contains(call.Tool, "patch") && slices.Contains(names, string(choir.ToolEditFile)) {
		out.Text += ". edit_file takes a patch in its field patch"
	}
	if err := d.calls.recordRefusal(call, out); err != nil {
		return agentloop.Result{}, err
	}
	return agentloop.Result{Text: out.Text, IsError: true, Stop: d.refused >= maxRefused}, nil
}

// caller implements agentloop.Caller for a dialogue. The ids of model calls are derived from
// the task's, so that the gateway answers a repeated call from the log.
type caller dialogue

// Call implements agentloop.Caller.
func (c *caller) Call(ctx context.Context, req model.Request, on func(model.Delta)) (model.Response, error) {
	if err := c.gate.waitUntilResumed(ctx); err != nil {
		return model.Response{}, err
	}
	c.made++
	info := model.CallInfo{Call: choir.DeriveID(c.rec.event.Task, "model", itoa(int64(c.made))), Run: c.rec.event.Run, Task: c.rec.event.Task, Caller: "associate"}
	c.clock.change(waiting)
	resp, err := c.models.Call(ctx, info, req, on)
	c.clock.change(working)
	if err == nil {
		return resp, (*dialogue)(c).recordWords(resp)
	}
	if ctx.Err() != nil || choir.CodeOf(err) == choir.CodeTooLarge {
		return resp, err // the loop compacts the conversation
	}
	if code := choir.CodeOf(err); code == choir.CodeBudget {
		return resp, fail(choir.ResultTokenBudget, "%v", err)
	}
	return resp, fail(choir.ResultModelError, "the model could not be called: %v", err)
}
