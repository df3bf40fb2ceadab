package conductor

import (
	"context"
	"strings"

	"choiros/internal/agentloop"
	"choiros/internal/choir"
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
	a := r.evidence.resultOf(in.Step)
	if in.Step != "" && a == nil {
		return refuse(choir.Invalid("step", "no task of step %q has returned", in.Step))
	}
	switch in.What {
	case "diff", "log":
		return r.evidence.lookAtResult(ctx, in, a)
	}
	return r.evidence.lookAtWorkspace(ctx, in, a)
}

// asData returns text from the sandbox between data marks.
func asData(name, text string) string {
	var b strings.Builder
	writeData(&b, strings.TrimSpace(name), text)
	return strings.TrimRight(b.String(), "\n")
}
