package conductor

import (
	"cmp"
	"context"
	"strings"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
	"choiros/internal/excerpt"
	"choiros/internal/model"
)

// lookInput is the input of look.
type lookInput struct {
	What    string `json:"what" choir:"enum=list|read|search|diff|log"`
	Path    string `json:"path,omitempty" choir:"len=0..4096"`
	Pattern string `json:"pattern,omitempty" choir:"len=0..1000"`
	Step    string `json:"step,omitempty" choir:"len=0..64"`
	From    int    `json:"from,omitempty" choir:"range=0..100000000"`
	Lines   int    `json:"lines,omitempty" choir:"range=0..1000"`
}

// lookAtPart is the tool look: it shows a part of the workspace, or of a task's diff or
// log, and changes nothing. An answer that an earlier execution gave is given again, also
// when the snapshot it came from is no longer kept.
func (r *run) lookAtPart(ctx context.Context, call model.Block) (agentloop.Result, error) {
	before, err := r.recordedResult(ctx, call.CallID)
	if err != nil {
		return agentloop.Result{}, err
	}
	if before != nil {
		return agentloop.Result{Text: before.Text, IsError: before.IsError}, nil
	}
	var in lookInput
	if err := choir.DecodeStrict(call.Input, &in); err != nil {
		return refuse(err)
	}
	a := r.resultOf(in.Step)
	if in.Step != "" && a == nil {
		return refuse(choir.Invalid("step", "no task of step %q has returned", in.Step))
	}
	switch in.What {
	case "diff", "log":
		return r.lookAtResult(ctx, in, a)
	}
	return r.lookAtWorkspace(ctx, in, a)
}

// resultOf returns the last result of a step, or of all with no step named; nil if there
// is none.
func (r *run) resultOf(step string) *attempt {
	for i := len(r.results) - 1; i >= 0; i-- {
		if a := r.results[i]; step == "" || a.step.ID == step {
			return a
		}
	}
	return nil
}

// lookAtWorkspace shows the workspace after the result a, or before the run without one.
func (r *run) lookAtWorkspace(ctx context.Context, in lookInput, a *attempt) (agentloop.Result, error) {
	req := choir.LookRequest{
		Run: r.rec.run, What: choir.LookWhat(in.What), Path: in.Path, Pattern: in.Pattern, From: in.From, Lines: in.Lines,
	}
	if a != nil {
		req.Task = a.task.TaskID
	}
	if err := req.Check(); err != nil {
		return refuse(err)
	}
	text, err := r.cfg.Log.LookAtWorkspace(ctx, req)
	switch choir.CodeOf(err) {
	case choir.CodeInvalid:
		return refuse(err)
	case choir.CodeNotFound:
		return refuse(choir.E("", choir.CodeNotFound, "no snapshot of the workspace is kept of then; a task of kind inspect can look"))
	case choir.CodeCorrupt:
		return refuse(choir.E("", choir.CodeCorrupt, "%s cannot be shown: its content is damaged; a task of kind inspect can look", clipHead(cmp.Or(in.Path, "the workspace"), 500)))
	}
	return textResult(asData(in.What+" "+in.Path, text), err)
}

// lookAtResult shows the diff or the verification log of a result.
func (r *run) lookAtResult(ctx context.Context, in lookInput, a *attempt) (agentloop.Result, error) {
	switch {
	case a == nil:
		return refuse(choir.Invalid("what", "no task has returned yet"))
	case in.Path != "" || in.Pattern != "":
		return refuse(choir.Invalid("path", "and pattern are not for %s", in.What))
	}
	text := a.result.Verify.Log
	if in.What == "diff" {
		var err error
		if text, err = r.diff(ctx, a.result.Diff); err != nil {
			return agentloop.Result{}, err
		}
	}
	shown, total := excerpt.Lines(text, in.From, in.Lines, choir.MaxLook)
	switch {
	case total == 0:
		return agentloop.Result{Text: "There is no " + in.What + " of step " + a.step.ID + "."}, nil
	case shown == "":
		return refuse(choir.Invalid("from", "the %s has %d lines", in.What, total))
	}
	return agentloop.Result{Text: asData(in.What+" of step "+a.step.ID, shown)}, nil
}

// asData returns text from the sandbox between data marks.
func asData(name, text string) string {
	var b strings.Builder
	writeData(&b, strings.TrimSpace(name), text)
	return strings.TrimRight(b.String(), "\n")
}
