package taskrunner

import (
	"context"
	"encoding/json"
	"time"

	"choiros/internal/associate/tools"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
	"choiros/internal/model"
)

// inlineRoom is the largest content of one event, in encoded bytes. It leaves room for
// the event's other fields below the inline limit.
const inlineRoom = choir.InlineLimit - 8<<10

// toolCalls numbers the tool calls of a task and appends their events.
type toolCalls struct {
	rec  *record
	gate gate
	made int // so far
}

// countCall counts a tool call and returns its id.
func (t *toolCalls) countCall() choir.ID {
	t.made++
	return choir.ToolCallID(t.rec.event.Task, t.made)
}

// pausedRetry is how long a call waits that was refused because of a pause, of which this
// process has not heard yet.
const pausedRetry = 50 * time.Millisecond

// beginCall appends the event that a tool call begins, once the task's run is not paused.
func (t *toolCalls) beginCall(ctx context.Context, called choir.Draft) error {
	for {
		if err := t.gate.waitUntilResumed(ctx); err != nil {
			return err
		}
		err := t.rec.appendEvents(called)
		if choir.CodeOf(err) != choir.CodeNeedsInput {
			return err
		}
		timer := time.NewTimer(pausedRetry)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// recordRefusal appends both events of a tool call that was refused with out.
func (t *toolCalls) recordRefusal(call model.Block, out tools.Output) error {
	id := t.countCall()
	called, err := t.called(id, call.Tool, choir.ToolInput{Raw: tools.Cut(excerpt.Text(call.Input), 4<<10)}, call.Input)
	if err != nil {
		return err
	}
	returned, err := t.returned(id, out, 0)
	if err != nil {
		return err
	}
	return t.rec.appendEvents(called, returned)
}

// called returns the event that a tool call begins. A large input is stored as a blob.
func (t *toolCalls) called(id choir.ID, tool string, in choir.ToolInput, raw json.RawMessage) (choir.Draft, error) {
	if name := []rune(excerpt.Text([]byte(tool))); len(name) > 64 {
		tool = string(name[:64])
	} else if tool == "" {
		tool = "(none)"
	}
	p := choir.ToolCalled{Call: id, Tool: tool, Input: in, Writes: tools.Writes(tool)}
	d, err := choir.NewDraft(choir.DeriveID(id, "called"), p)
	if err == nil && len(d.Payload) > inlineRoom {
		p.Input = choir.ToolInput{Path: in.Path}
		if p.Input.Blob, err = t.rec.storeBlob(raw); err == nil {
			d, err = choir.NewDraft(d.ID, p)
		}
	}
	return t.rec.mine(d), err
}

// returned returns the event that a tool call has ended after ms milliseconds. A large output is stored
// as a blob.
func (t *toolCalls) returned(id choir.ID, out tools.Output, ms int64) (choir.Draft, error) {
	p := choir.ToolReturned{Call: id, OK: out.OK, Code: out.Code, Output: excerpt.Text([]byte(out.Text)), ExitCode: out.ExitCode, DurationMS: max(0, ms)}
	full := out.Full
	d, err := choir.NewDraft(choir.DeriveID(id, "returned"), p)
	if err == nil && len(d.Payload) > inlineRoom {
		if full == nil {
			full = []byte(out.Text)
		}
		p.Output = tools.Cut(p.Output, 8<<10)
	}
	if err == nil && full != nil {
		if p.Blob, err = t.rec.storeBlob(full); err == nil {
			d, err = choir.NewDraft(d.ID, p)
		}
	}
	return t.rec.mine(d), err
}
