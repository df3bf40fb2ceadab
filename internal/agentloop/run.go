package agentloop

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Run calls the model and runs its tools until the model is done or a limit is reached.
// Errors are those of the model, of a tool, and of ctx; the outcome is filled as far as
// it got.
func Run(ctx context.Context, cfg Config) (Outcome, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Outcome{Stopped: Failed}, err
	}
	l := &loop{Config: cfg, out: Outcome{Messages: slices.Clone(cfg.Messages)}}
	l.repeats.max = cfg.MaxRepeats
	if cfg.Answered != nil {
		if err := l.takeUp(ctx, *cfg.Answered); err != nil {
			l.out.Stopped = Failed
			return l.out, err
		}
	}
	for l.out.Stopped == "" {
		if err := l.step(ctx); err != nil {
			l.out.Stopped = Failed
			return l.out, err
		}
	}
	return l.out, nil
}

// AskOnce makes one more call after a loop that ended with out, with a text of the user's,
// and returns the text of the answer, of at most maxTokens. Tool calls in it are not run.
// It adds the call to out.
func AskOnce(ctx context.Context, cfg Config, out *Outcome, text string, maxTokens int) (string, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return "", err
	}
	cfg.MaxTokens = maxTokens
	l := &loop{Config: cfg, out: *out}
	l.out.Messages = slices.Clone(out.Messages)
	l.appendText(text)
	res, err := l.Model.Call(ctx, l.request(), l.OnDelta)
	if err != nil {
		return "", err
	}
	words := l.appendAnswer(res)
	*out = l.out
	return words, nil
}

type loop struct {
	Config
	out     Outcome
	repeats repeats
	final   string // Final of a tool in the answer at hand
}

// step makes one model call and runs the tool calls of its answer.
func (l *loop) step(ctx context.Context) error {
	if l.out.Stopped = l.reachedLimit(); l.out.Stopped != "" {
		return nil
	}
	added, err := l.steering(ctx)
	if err != nil {
		return err
	}
	l.appendUser(added)
	if l.Remind != nil && l.out.Steps > 0 {
		l.appendText(l.Remind(l.out.Steps, l.out.Usage))
	}
	res, err := l.callModel(ctx)
	if err != nil {
		return err
	}
	if l.Asked != nil {
		if asked := l.Asked(); asked != nil {
			l.out.Messages = slices.Clone(asked)
		}
	}
	return l.takeUp(ctx, res)
}

// takeUp appends an answer of the model and runs its tool calls.
func (l *loop) takeUp(ctx context.Context, res model.Response) error {
	l.appendAnswer(res)
	calls := res.ToolCalls()
	if len(calls) == 0 {
		return l.endLoop(ctx, res.Stop)
	}
	answers, err := l.answer(ctx, calls, res.Stop == model.StopLength)
	l.appendUser(answers)
	if err != nil || l.final == "" || l.out.Stopped != "" {
		return err
	}
	l.out.Final, l.final = l.final, ""
	return l.endLoop(ctx, model.StopEnd)
}

// reachedLimit returns the limit that prevents another step; "" for none.
func (l *loop) reachedLimit() Reason {
	switch {
	case l.out.Steps >= l.MaxSteps:
		return Steps
	case l.TokenBudget > 0 && l.out.Usage.Input+l.out.Usage.Output >= l.TokenBudget:
		return Tokens
	}
	return ""
}

// request returns the next request to the model.
func (l *loop) request() model.Request {
	defs := make([]model.ToolDef, len(l.Tools))
	for i, t := range l.Tools {
		defs[i] = t.Def
	}
	return model.Request{
		Model: l.ModelName, System: l.System, Messages: slices.Clone(l.out.Messages),
		Tools: defs, ToolChoice: l.ToolChoice, MaxTokens: l.MaxTokens,
	}
}

// appendAnswer appends an answer to the conversation, adds its usage and returns its text.
func (l *loop) appendAnswer(res model.Response) string {
	l.out.Steps++
	l.out.Model = res.Model
	addUsage(&l.out.Usage, res.Usage)
	l.out.Final = textOf(res)
	// Providers refuse an assistant message without content.
	if len(res.Content) > 0 {
		l.out.Messages = append(l.out.Messages, model.Message{Role: model.Assistant, Content: res.Content})
	}
	return l.out.Final
}

// endLoop handles an answer without tool calls. It ends the loop unless a person added
// something meanwhile, or the review returns a text.
func (l *loop) endLoop(ctx context.Context, stop model.Stop) error {
	switch stop {
	case model.StopLength:
		l.out.Stopped = Length
	case model.StopRefusal:
		l.out.Stopped = Refusal
	default:
		if more, err := l.steering(ctx); err != nil || len(more) > 0 {
			l.appendUser(more)
			return err
		}
		return l.review(ctx)
	}
	return nil
}

// review ends the loop unless the review returns a text for the model.
func (l *loop) review(ctx context.Context) error {
	if l.Review != nil {
		text, err := l.Review(ctx)
		if err != nil {
			return err
		}
		if text != "" {
			l.appendText(text)
			return nil
		}
	}
	l.out.Stopped = Done
	return nil
}

// answer runs the tool calls of one message in order and returns a result for each, also
// for calls that are no longer run. cut means that the token limit cut the message off,
// so that its last call is not run.
func (l *loop) answer(ctx context.Context, calls []model.Block, cut bool) ([]model.Block, error) {
	answers := make([]model.Block, 0, len(calls))
	var failed error
	wrong := "" // the tool of the first call that failed
	for i, call := range calls {
		var r Result
		switch {
		case l.out.Stopped != "" || failed != nil || l.final != "":
			r = Result{Text: "not run: the work ended before this call", IsError: true}
		case cut && i == len(calls)-1:
			r = Result{Text: "not run: the answer was cut off at the token limit, so the input may be incomplete; call again with less", IsError: true}
		default:
			r, failed = l.call(ctx, call)
			if r.Final != "" && wrong != "" {
				r = Result{Text: "the work goes on: a call of " + wrong + " in this response failed", IsError: true}
			}
			l.final = r.Final
		}
		if r.IsError && wrong == "" {
			wrong = call.Tool
		}
		answers = append(answers, model.Block{Kind: model.ToolResult, CallID: call.CallID, Text: r.Text, IsError: r.IsError, Images: r.Images})
	}
	return answers, failed
}

// call runs one tool call. A result with Stop, or a call that failed too often, ends the
// loop.
func (l *loop) call(ctx context.Context, call model.Block) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{Text: "not run: " + err.Error(), IsError: true}, choir.Wrap("agentloop.run", choir.CodeCancelled, err, "stopped before %s", call.Tool)
	}
	r, err := l.dispatch(ctx, call)
	if err != nil {
		return Result{Text: err.Error(), IsError: true}, err
	}
	switch {
	case r.Stop:
		l.out.Stopped = ByTool
	case l.repeats.countFailure(call, r):
		l.out.Stopped = NoProgress
	}
	return r, nil
}

// dispatch passes a call to its tool, or to Unknown.
func (l *loop) dispatch(ctx context.Context, call model.Block) (Result, error) {
	if call.IsError {
		return Result{Text: "not run: the input is not a whole JSON object; it ends with " + strconv.Quote(tail(call.Text)) + ". Call again with a complete one", IsError: true}, nil
	}
	for _, t := range l.Tools {
		if t.Def.Name == call.Tool {
			return t.Run(ctx, call)
		}
	}
	if l.Unknown != nil {
		return l.Unknown(ctx, call)
	}
	names := make([]string, len(l.Tools))
	for i, t := range l.Tools {
		names[i] = t.Def.Name
	}
	return Result{Text: "there is no tool " + call.Tool + "; there are: " + strings.Join(names, ", "), IsError: true}, nil
}

// tail returns the last characters of a text.
func tail(s string) string {
	const most = 80
	return strings.ToValidUTF8(s[max(0, len(s)-most):], "")
}

// steering returns the texts that a person added since the last call, as blocks.
func (l *loop) steering(ctx context.Context) ([]model.Block, error) {
	if l.Steer == nil {
		return nil, nil
	}
	texts, err := l.Steer(ctx)
	var blocks []model.Block
	for _, text := range texts {
		blocks = append(blocks, model.Block{Kind: model.Text, Text: text})
	}
	return blocks, err
}

// appendText appends a text to the conversation as the user's, unless it is empty.
func (l *loop) appendText(text string) {
	if text != "" {
		l.appendUser([]model.Block{{Kind: model.Text, Text: text}})
	}
}

// appendUser appends blocks to the conversation as a user message, or to the last
// message if that is a user's.
func (l *loop) appendUser(blocks []model.Block) {
	if len(blocks) == 0 {
		return
	}
	if n := len(l.out.Messages); n > 0 && l.out.Messages[n-1].Role == model.User {
		last := l.out.Messages[n-1]
		last.Content = append(slices.Clone(last.Content), blocks...)
		l.out.Messages[n-1] = last
		return
	}
	l.out.Messages = append(l.out.Messages, model.Message{Role: model.User, Content: blocks})
}

// addUsage adds u to sum.
func addUsage(sum *model.Usage, u model.Usage) {
	sum.Input += u.Input
	sum.Output += u.Output
	sum.CacheRead += u.CacheRead
	sum.CacheWrite += u.CacheWrite
	sum.CostUSD += u.CostUSD
	sum.PriceKnown = u.PriceKnown
	sum.FromRecord = sum.FromRecord || u.FromRecord
	sum.ServedCache = sum.ServedCache || u.ServedCache
}
