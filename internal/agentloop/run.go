package agentloop

import (
	"context"
	"slices"
	"strings"

	"choiros/internal/choir"
	"choiros/internal/model"
)

// Run calls the model until it has no more to do or a bound is reached. Errors
// are those of the model, of a tool, and of the context.
func Run(ctx context.Context, cfg Config) (Outcome, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Outcome{Stopped: Failed}, err
	}
	l := &loop{Config: cfg, out: Outcome{Messages: slices.Clone(cfg.Messages)}}
	l.repeats.max = cfg.MaxRepeats
	for l.out.Stopped == "" {
		if err := l.step(ctx); err != nil {
			l.out.Stopped = Failed
			return l.out, err
		}
	}
	return l.out, nil
}

type loop struct {
	Config
	out     Outcome
	repeats repeats
}

// step is one model call and the answers to its tool calls.
func (l *loop) step(ctx context.Context) error {
	if l.out.Stopped = l.bound(); l.out.Stopped != "" {
		return nil
	}
	l.say(l.steering())
	res, err := l.Model.Call(ctx, l.request(), l.OnDelta)
	if err != nil {
		return err
	}
	if l.Asked != nil {
		if asked := l.Asked(); asked != nil {
			l.out.Messages = slices.Clone(asked)
		}
	}
	l.take(res)
	calls := res.ToolCalls()
	if len(calls) == 0 {
		l.end(res.Stop)
		return nil
	}
	answers, err := l.answer(ctx, calls, res.Stop == model.StopLength)
	l.say(answers)
	return err
}

func (l *loop) bound() Reason {
	switch {
	case l.out.Steps >= l.MaxSteps:
		return Steps
	case l.TokenBudget > 0 && l.out.Usage.Input+l.out.Usage.Output >= l.TokenBudget:
		return Tokens
	}
	return ""
}

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

// take adds an answer to the conversation.
func (l *loop) take(res model.Response) {
	l.out.Steps++
	l.out.Model = res.Model
	addUsage(&l.out.Usage, res.Usage)
	var text strings.Builder
	for _, b := range res.Content {
		if b.Kind == model.Text {
			text.WriteString(b.Text)
		}
	}
	l.out.Final = strings.TrimSpace(text.String())
	// Providers refuse an assistant message without content.
	if len(res.Content) > 0 {
		l.out.Messages = append(l.out.Messages, model.Message{Role: model.Assistant, Content: res.Content})
	}
}

// end decides what an answer without tool calls means. Something a person added
// meanwhile is a reason to go on.
func (l *loop) end(stop model.Stop) {
	switch stop {
	case model.StopLength:
		l.out.Stopped = Length
	case model.StopRefusal:
		l.out.Stopped = Refusal
	default:
		if more := l.steering(); len(more) > 0 {
			l.say(more)
			return
		}
		l.out.Stopped = Done
	}
}

// answer runs the calls of one message in order. Every call gets an answer,
// also those that are not run any more.
func (l *loop) answer(ctx context.Context, calls []model.Block, cut bool) ([]model.Block, error) {
	answers := make([]model.Block, 0, len(calls))
	var failed error
	for i, call := range calls {
		var r Result
		switch {
		case l.out.Stopped != "" || failed != nil:
			r = Result{Text: "not run: the work ended before this call", IsError: true}
		case cut && i == len(calls)-1:
			r = Result{Text: "not run: the answer was cut off at the token limit, so the input may be incomplete; call again with less", IsError: true}
		default:
			r, failed = l.call(ctx, call)
		}
		answers = append(answers, model.Block{Kind: model.ToolResult, CallID: call.CallID, Text: r.Text, IsError: r.IsError})
	}
	return answers, failed
}

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
	case l.repeats.seen(call, r):
		l.out.Stopped = NoProgress
	}
	return r, nil
}

func (l *loop) dispatch(ctx context.Context, call model.Block) (Result, error) {
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

func (l *loop) steering() []model.Block {
	if l.Steer == nil {
		return nil
	}
	var blocks []model.Block
	for _, text := range l.Steer() {
		blocks = append(blocks, model.Block{Kind: model.Text, Text: text})
	}
	return blocks
}

// say adds to the user's side; two user messages in a row become one.
func (l *loop) say(blocks []model.Block) {
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
