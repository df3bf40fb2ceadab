package taskrunner

import (
	"context"
	"encoding/json"
	"errors"
	"syscall"

	"choiros/internal/agentloop"
	"choiros/internal/associate/tools"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// inlineRoom is the largest content of one event, in encoded bytes. It leaves room for
// the event's other fields below the inline limit.
const inlineRoom = choir.InlineLimit - 8<<10

// call runs a permitted tool call and appends its events tool.called and tool.returned.
// The error ends the task.
func (j *job) call(ctx context.Context, kit *tools.Kit, call model.Block) (agentloop.Result, error) {
	c, err := tools.Decode(call.Tool, call.Input)
	if err != nil {
		out := tools.Output{Text: err.Error(), Code: choir.CodeOf(err)}
		return agentloop.Result{Text: out.Text, IsError: true}, j.recordRefusal(call, out)
	}
	if err := j.waitWhilePaused(ctx); err != nil {
		return agentloop.Result{}, err
	}
	id := j.nextCall()
	if made := j.madeBefore(id); made != nil {
		return *made, nil
	}
	called, err := j.called(id, call.Tool, c.Record(), call.Input)
	if err != nil {
		return agentloop.Result{}, err
	}
	if err := j.beginCall(ctx, called); err != nil {
		return agentloop.Result{}, err
	}
	began := j.cfg.Now()
	out, err := c.Run(ctx, kit)
	if err != nil && out.Text == "" {
		out = tools.Output{Text: err.Error(), Code: choir.CodeOf(err)}
	}
	if out.OK {
		out.Text += j.diagnose(ctx, call.Tool, c.Record())
	}
	// Whatever ended the call is told to the log before it ends the task.
	returned, rerr := j.returned(id, out, int64(j.cfg.Now()-began))
	if rerr == nil {
		rerr = j.appendEvents(returned)
	}
	if out.Code == choir.CodeRefused {
		j.egress = true
	}
	if err == nil {
		err = rerr
	} else if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || choir.CodeOf(err) == choir.CodeNoSpace {
		err = fail(choir.ResultDiskFull, "%v", err)
	}
	return agentloop.Result{Text: out.Text, IsError: !out.OK, Images: out.Images}, err
}

// recordRefusal appends both events of a tool call that was refused with out.
func (j *job) recordRefusal(call model.Block, out tools.Output) error {
	id := j.nextCall()
	called, err := j.called(id, call.Tool, choir.ToolInput{Raw: tools.Cut(toUTF8(call.Input), 4<<10)}, call.Input)
	if err != nil {
		return err
	}
	returned, err := j.returned(id, out, 0)
	if err != nil {
		return err
	}
	return j.appendEvents(called, returned)
}

// nextCall counts a tool call and returns its id.
func (j *job) nextCall() choir.ID {
	j.calls++
	return choir.ToolCallID(j.event.Task, j.calls)
}

// called returns the event that a tool call begins. A large input is stored as a blob.
func (j *job) called(id choir.ID, tool string, in choir.ToolInput, raw json.RawMessage) (choir.Draft, error) {
	if name := []rune(toUTF8([]byte(tool))); len(name) > 64 {
		tool = string(name[:64])
	} else if tool == "" {
		tool = "(none)"
	}
	p := choir.ToolCalled{Call: id, Tool: tool, Input: in, Writes: tools.Writes(tool)}
	d, err := choir.NewDraft(choir.DeriveID(id, "called"), p)
	if err == nil && len(d.Payload) > inlineRoom {
		p.Input = choir.ToolInput{Path: in.Path}
		if p.Input.Blob, err = j.kept(raw); err == nil {
			d, err = choir.NewDraft(d.ID, p)
		}
	}
	return j.mine(d), err
}

// returned returns the event that a tool call has ended after ms milliseconds. A large output is stored
// as a blob.
func (j *job) returned(id choir.ID, out tools.Output, ms int64) (choir.Draft, error) {
	p := choir.ToolReturned{Call: id, OK: out.OK, Code: out.Code, Output: toUTF8([]byte(out.Text)), ExitCode: out.ExitCode, DurationMS: max(0, ms)}
	full := out.Full
	d, err := choir.NewDraft(choir.DeriveID(id, "returned"), p)
	if err == nil && len(d.Payload) > inlineRoom {
		if full == nil {
			full = []byte(out.Text)
		}
		p.Output = tools.Cut(p.Output, 8<<10)
	}
	if err == nil && full != nil {
		if p.Blob, err = j.kept(full); err == nil {
			d, err = choir.NewDraft(d.ID, p)
		}
	}
	return j.mine(d), err
}
