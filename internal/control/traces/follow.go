package traces

import (
	"context"
	"iter"
	"slices"

	"go.opentelemetry.io/otel/attribute"

	"choiros/internal/choir"
	"choiros/internal/eventstore"
)

// Log is the part of a computer's log that traces are made from; eventstore.Store
// implements it.
type Log interface {
	Head() (uint64, choir.Digest)
	OpenRuns(ctx context.Context) ([]eventstore.Run, error)
	Follow(ctx context.Context, cursor uint64) iter.Seq2[choir.Event, error]
}

// Follow exports a span for every run, task and call of a log that ends from now on,
// until ctx ends. It first reads from the start of the oldest open run, so that spans
// that began before a restart have their whole length.
func (t *Traces) Follow(ctx context.Context, computer choir.ID, log Log) error {
	head, _ := log.Head()
	runs, err := log.OpenRuns(ctx)
	if err != nil {
		return err
	}
	cursor := head
	for _, r := range runs {
		cursor = min(cursor, r.FirstSeq-1)
	}
	f := follower{traces: t, computer: computer, after: head, open: map[subject]begun{}}
	for e, err := range log.Follow(ctx, cursor) {
		if err != nil {
			return err
		}
		f.traceEvent(&e)
	}
	return nil
}

// follower converts the events of one log into spans.
type follower struct {
	traces   *Traces
	computer choir.ID
	after    uint64 // events up to this number end no span that is exported
	open     map[subject]begun
}

// subject identifies a run, task or call with a span. It has the span's name besides the
// id, because a guest may use one id for two kinds.
type subject struct {
	name string // of the span
	id   choir.ID
}

// The names of the spans.
const (
	ofRun   = "run"
	ofTask  = "task"
	ofTool  = "tool"
	ofModel = "model"
)

// begun is the start of a span that has not ended.
type begun struct {
	at choir.Time
	of []attribute.KeyValue
}

// maxOpen is the maximum of started spans in memory, since guests can start any number.
const maxOpen = 10_000

// traceEvent starts or ends the span of an event. Events of other types, and payloads of
// a newer choir, are skipped.
func (f *follower) traceEvent(e *choir.Event) {
	switch e.Type {
	case choir.TypePromptSubmitted, choir.TypeRunFinished, choir.TypeTaskDispatched, choir.TypeTaskReturned,
		choir.TypeToolCalled, choir.TypeToolReturned, choir.TypeModelCalled, choir.TypeModelReturned:
	default:
		return
	}
	payload, err := choir.ReadPayload(e.Type, e.Payload)
	if err != nil {
		return
	}
	switch p := payload.(type) {
	case *choir.PromptSubmitted:
		f.startSpan(e, subject{ofRun, e.Run})
	case *choir.RunFinished:
		f.endSpan(e, subject{ofRun, e.Run}, subject{}, known(p.Code), attribute.String("choir.outcome", string(p.Outcome)))
	case *choir.TaskDispatched:
		f.startSpan(e, subject{ofTask, e.Task}, attribute.String("choir.kind", string(p.Task.Kind)), attribute.String("choir.git_action", string(p.Task.GitAction)))
	case *choir.TaskReturned:
		f.endSpan(e, subject{ofTask, e.Task}, subject{ofRun, e.Run}, string(p.Result.Code), attribute.String("choir.status", string(p.Result.Status)))
	case *choir.ToolCalled:
		f.startSpan(e, subject{ofTool, p.Call}, attribute.String("choir.tool", toolOf(p.Tool)))
	case *choir.ToolReturned:
		f.endSpan(e, subject{ofTool, p.Call}, subject{ofTask, e.Task}, known(p.Code))
	case *choir.ModelCalled:
		f.startSpan(e, subject{ofModel, e.ID})
	case *choir.ModelReturned:
		f.endCall(e, p)
	}
}

// startSpan stores the start of a span with its attributes, unless maxOpen are open.
func (f *follower) startSpan(e *choir.Event, s subject, of ...attribute.KeyValue) {
	if len(f.open) < maxOpen {
		f.open[s] = begun{e.Time, of}
	}
}

// endSpan exports the span of a started operation, as a child of parent if that is open.
// It does nothing without a start, or for an event from before Follow.
func (f *follower) endSpan(e *choir.Event, s, parent subject, code string, of ...attribute.KeyValue) {
	b, ok := f.open[s]
	delete(f.open, s)
	if !ok || e.Seq <= f.after {
		return
	}
	if _, open := f.open[parent]; !open {
		parent = subject{}
	}
	attributes := slices.Concat(b.of, of, []attribute.KeyValue{attribute.String("choir.computer", string(f.computer)), attribute.String("choir.run", string(e.Run))})
	if e.Task != "" {
		attributes = append(attributes, attribute.String("choir.task", string(e.Task)))
	}
	f.traces.write(record{run: e.Run, of: s, parent: parent, from: b.at, to: e.Time, code: code, attributes: attributes})
}

// endCall exports the span of a model call, as a child of its task or its run.
func (f *follower) endCall(e *choir.Event, p *choir.ModelReturned) {
	parent := subject{ofTask, e.Task}
	if _, open := f.open[parent]; !open {
		parent = subject{ofRun, e.Run}
	}
	f.endSpan(e, subject{ofModel, e.Cause}, parent, known(p.Code),
		attribute.String("choir.caller", p.Caller), attribute.String("gen_ai.provider.name", p.Provider),
		attribute.Int64("gen_ai.usage.input_tokens", p.InputTokens), attribute.Int64("gen_ai.usage.output_tokens", p.OutputTokens),
		attribute.Float64("choir.cost_usd", p.CostUSD), attribute.Bool("choir.recorded", p.Recorded))
}

// known returns c if it is in the closed list of codes, and otherwise internal, because
// a guest may write any code.
func known(c choir.Code) string {
	if c != "" && !c.Known() {
		c = choir.CodeInternal
	}
	return string(c)
}

// tools are the names of choir's tools.
var tools = []choir.Tool{
	choir.ToolReadFile, choir.ToolWriteFile, choir.ToolEditFile, choir.ToolListFiles, choir.ToolSearchFiles, choir.ToolBash, choir.ToolFetchURL, choir.ToolScreenshot, choir.ToolVerify,
}

// toolOf returns the name of one of choir's tools, and a fixed text for any other,
// because a model may call any name.
func toolOf(name string) string {
	if slices.Contains(tools, choir.Tool(name)) {
		return name
	}
	return "none of choir's"
}
