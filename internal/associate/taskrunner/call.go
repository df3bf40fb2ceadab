package taskrunner

import (
	"context"
	"errors"
	"syscall"

	"choiros/internal/agentloop"
	"choiros/internal/associate/tools"
	"choiros/internal/choir"
	"choiros/internal/model"
)

// call runs a permitted tool call and appends its events tool.called and tool.returned.
// The error ends the task.
func (d *dialogue) call(ctx context.Context, kit *tools.Kit, call model.Block) (agentloop.Result, error) {
	c, err := tools.Decode(call.Tool, call.Input)
	if err != nil {
		out := tools.Output{Text: err.Error(), Code: choir.CodeOf(err)}
		return agentloop.Result{Text: out.Text, IsError: true}, d.calls.recordRefusal(call, out)
	}
	if err := d.gate.waitUntilResumed(ctx); err != nil {
		return agentloop.Result{}, err
	}
	id := d.calls.countCall()
	if made := d.madeBefore(id); made != nil {
		return *made, nil
	}
	called, err := d.calls.called(id, call.Tool, c.Record(), call.Input)
	if err != nil {
		return agentloop.Result{}, err
	}
	if err := d.calls.beginCall(ctx, called); err != nil {
		return agentloop.Result{}, err
	}
	began := d.rec.now()
	out, err := c.Run(ctx, kit)
	if err != nil && out.Text == "" {
		out = tools.Output{Text: err.Error(), Code: choir.CodeOf(err)}
	}
	if out.OK {
		out.Text += d.programs.Diagnose(ctx, call.Tool, c.Record())
	}
	// Whatever ended the call is told to the log before it ends the task.
	returned, rerr := d.calls.returned(id, out, int64(d.rec.now()-began))
	if rerr == nil {
		rerr = d.rec.appendEvents(returned)
	}
	if out.Code == choir.CodeRefused {
		d.egress = true
	}
	if err == nil {
		err = rerr
	} else if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || choir.CodeOf(err) == choir.CodeNoSpace {
		err = fail(choir.ResultDiskFull, "%v", err)
	}
	return agentloop.Result{Text: out.Text, IsError: !out.OK, Images: out.Images}, err
}
